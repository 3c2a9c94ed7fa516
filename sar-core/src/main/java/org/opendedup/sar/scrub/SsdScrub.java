package org.opendedup.sar.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.hot.SsdAudit;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.ssd.LogCopies;
import org.opendedup.sar.ssd.LogCopies.State;

/**
 * Verifies all copies on the SSD while it is in use, in the order of its log: each against its checksum and its
 * fingerprint, and many against the directories of their containers. Wrong copies, and entries that lead nowhere, are
 * removed from the Map table: the chunks are then read from their containers. For use by one thread.
 */
public final class SsdScrub {
    /** Bytes that are verified between two looks at pace and progress: some hundredths of a second of an SSD. */
    private static final int STEP_BYTES = 8 << 20;

    /**
     * Copies of one container in a step from which on its directory is read: one request to the disk then serves at
     * least this many copies. A run of chunks that was promoted together lies together in the log.
     */
    private static final int MIN_SHARED = 16;

    private final SsdAudit audit;
    private final Directories directories;
    private final Pace pace;
    private final Findings findings;
    private final ScrubProgress progress;

    private ScrubTotals totals = ScrubTotals.NONE;
    private ScrubCursor next = ScrubCursor.beginOf(ScrubPhase.SSD);
    private long restBytes;
    private boolean stopped;

    public SsdScrub(SsdAudit audit, Scrubber.Parts parts, Pace pace, Findings findings, ScrubProgress progress) {
        this.audit = audit;
        this.pace = pace;
        this.findings = findings;
        this.progress = progress;
        directories = new Directories(parts);
    }

    /**
     * Verifies all copies that are not before {@code from}. Ends early, and says so, if the SSD is not in use.
     *
     * @param before what the scrub has verified
     * @return what was verified, {@code before} included
     * @throws InterruptedIOException if the progress stopped it
     */
    public ScrubTotals run(ScrubCursor from, ScrubTotals before) throws IOException {
        totals = before;
        next = from;
        restBytes = Math.max(0, audit.bytes() - before.ssd().bytes());
        try {
            LogCopies copies = copies();
            while (copies.count() > 0 && goesOn()) {
                verify(copies);
                copies = copies();
            }
        } catch (PartUnusable e) {
            totals = totals.with(totals.ssd().passOver());
            findings.passedOver("the copies on the SSD", e.why());
        }
        if (stopped) {
            throw new InterruptedIOException("the scrub was stopped");
        }
        return totals;
    }

    private LogCopies copies() throws PartUnusable {
        return PartUnusable.get(() -> audit.copiesFrom((int) next.file(), next.offset()));
    }

    private boolean goesOn() {
        stopped = stopped || !progress.verified(totals, restBytes, next);
        return !stopped;
    }

    private void verify(LogCopies copies) throws IOException, PartUnusable {
        for (int i = 0; i < copies.count(); ) {
            int end = i;
            long bytes = 0;
            while (end < copies.count() && (end == i || bytes + copies.bytes(end) <= STEP_BYTES)) {
                bytes += copies.bytes(end++);
            }
            pace.await(bytes, this::goesOn);
            if (!goesOn()) {
                return;
            }
            verify(copies, i, end, bytes);
            i = end;
        }
    }

    private void verify(LogCopies copies, int from, int to, long bytes) throws IOException, PartUnusable {
        var unused = PartUnusable.get(() -> {
            audit.verify(copies, from, to);
            return copies;
        });
        long wrong = 0;
        long nowhere = 0;
        for (int i = from; i < to; i++) {
            wrong += copies.state(i) == State.WRONG ? 1 : 0;
            nowhere += copies.state(i) == State.NOWHERE ? 1 : 0;
        }
        for (List<Integer> some : soundByContainer(copies, from, to)) {
            long container = ChunkId.container(copies.chunkId(some.get(0)));
            ContainerCounts counts = directories.counts(container);
            SealedContainer directory = some.size() < MIN_SHARED ? null : directories.get(container, counts);
            for (int copy : some) {
                if (!counts.isAlive(ChunkId.slot(copies.chunkId(copy)))) {
                    nowhere += drop(copies, copy) ? 1 : 0;
                } else if (isOther(copies, copy, directory)) {
                    wrong += drop(copies, copy) ? 1 : 0;
                }
            }
        }
        totals = totals.with(totals.ssd().plus(to - from, bytes, wrong, nowhere));
        restBytes = Math.max(0, restBytes - bytes);
        next = new ScrubCursor(ScrubPhase.SSD, copies.segment(to - 1), copies.offset(to - 1) + 1L);
    }

    private static Collection<List<Integer>> soundByContainer(LogCopies copies, int from, int to) {
        SortedMap<Long, List<Integer>> containers = new TreeMap<>();
        for (int i = from; i < to; i++) {
            if (copies.state(i) == State.SOUND) {
                containers
                        .computeIfAbsent(ChunkId.container(copies.chunkId(i)), container -> new ArrayList<>())
                        .add(i);
            }
        }
        return containers.values();
    }

    private boolean drop(LogCopies copies, int copy) throws PartUnusable {
        return PartUnusable.get(() -> audit.drop(copies, copy));
    }

    /**
     * Returns whether a copy is of other content than its container has in that slot. If the container does not have
     * the slot, or cannot be read, the copy may be the only good one.
     */
    private static boolean isOther(LogCopies copies, int copy, @Nullable SealedContainer directory) {
        int slot = ChunkId.slot(copies.chunkId(copy));
        return directory != null
                && slot < directory.slots()
                && directory.listedLength(slot) > 0
                && (directory.listedLength(slot) != copies.rawLength(copy)
                        || !Directories.isSame(
                                directory.fingerprints(),
                                slot * Fingerprints.BYTES,
                                copies.fingerprints(),
                                copy * Fingerprints.BYTES));
    }
}
