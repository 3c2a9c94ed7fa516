package org.opendedup.sar.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Causes;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.container.Verification;
import org.opendedup.sar.container.Verification.Verified;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubTotals;

/**
 * Verifies all sealed containers of a volume while it is in use, in the order of the disk: checksums of frames, SHA-256
 * of chunks, headers, directories and footers, and that counts and container table say the same as the directories.
 * Containers that are being written are left out; the next scrub verifies them. For use by one thread.
 */
public final class Scrubber {
    /** Containers that are found by one scan of the container table: 6 MB of memory, 128 GB of the disk. */
    private static final int AT_ONCE = 1 << 15;

    /**
     * The parts of a volume that a scrub uses.
     *
     * @param uses open while a place that was looked up is read, so that the garbage collector does not give it back
     * @param disk queue of the device that holds the containers
     */
    public record Parts(MetadataStore metadata, ContainerStore containers, GracePeriod uses, DiskQueue disk) {}

    private final Parts parts;
    private final Pace pace;
    private final Findings findings;
    private final ScrubProgress progress;
    private final Verification verification;
    private final DiskOrder order;

    private ScrubTotals totals = ScrubTotals.NONE;
    private long restBytes;
    /** All containers before it are verified. */
    private Place next = Place.BEGIN;
    /**
     * Where the containers that are being verified lay when they were listed. One that was written anew since was read
     * in its new place, far behind others that are still to be verified.
     */
    private final Deque<StoredContainer> listed = new ArrayDeque<>();

    private boolean stopped;

    public Scrubber(Parts parts, Pace pace, Findings findings, ScrubProgress progress) {
        this.parts = parts;
        this.pace = pace;
        this.findings = findings;
        this.progress = progress;
        verification = parts.containers().verification();
        order = new DiskOrder(parts.metadata().containers(), AT_ONCE);
    }

    /**
     * Verifies all containers whose places are not before {@code from}.
     *
     * @param from {@link ScrubCursor#BEGIN}, or where a scrub was stopped
     * @param before what that scrub had verified
     * @return what was verified, {@code before} included
     * @throws InterruptedIOException if the progress stopped it
     */
    public ScrubTotals run(ScrubCursor from, ScrubTotals before) throws IOException {
        totals = before;
        next = new Place(from.file(), from.offset());
        restBytes = order.bytesFrom(next);
        List<ContainerEntry> some = order.next(next);
        while (!some.isEmpty() && goesOn()) {
            verify(some);
            some = order.next(next);
        }
        if (stopped) {
            throw new InterruptedIOException("the scrub was stopped");
        }
        return totals;
    }

    private boolean goesOn() {
        ScrubCursor cursor = new ScrubCursor(ScrubPhase.CONTAINERS, next.pack(), next.offset());
        stopped = stopped || !progress.verified(totals, restBytes, cursor);
        return !stopped;
    }

    private void verify(List<ContainerEntry> some) throws IOException {
        for (ContainerEntry entry : some) {
            pace.await(entry.stored().bytes(), this::goesOn);
            if (!goesOn()) {
                break;
            }
            if (!verification.hasRoom()) {
                finishOldest();
            }
            start(entry);
        }
        finishAll();
    }

    private void start(ContainerEntry entry) throws IOException {
        try {
            load(entry.container(), entry.stored());
            listed.add(entry.stored());
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            // In the order of the disk, so that the scrub can be continued from any container.
            finishAll();
            verifyFrames(entry, e);
            done(entry.stored(), entry.stored().bytes(), 0);
        }
    }

    private void load(long container, StoredContainer stored) throws IOException {
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            long start = System.nanoTime();
            verification.load(container);
            turn.requested(stored.pack(), stored.offset(), (int) stored.bytes(), System.nanoTime() - start);
        }
    }

    private void finishAll() throws IOException {
        while (!verification.isEmpty()) {
            finishOldest();
        }
    }

    private void finishOldest() throws IOException {
        Verified verified = verification.next();
        if (!verified.damagedFrames().isEmpty()) {
            reportFrames(verified);
        }
        int chunks = compare(verified);
        done(listed.remove(), verified.stored().bytes(), chunks);
    }

    /**
     * @param place where the container lay when it was listed
     * @param bytes how many were verified
     */
    private void done(StoredContainer place, long bytes, int chunks) {
        totals = totals.plusVerified(bytes, chunks);
        restBytes = Math.max(0, restBytes - place.bytes());
        next = Place.behind(place);
    }

    private void reportFrames(Verified verified) throws IOException {
        if (!isCurrent(verified.container(), verified.stored())) {
            // It was written anew, from what was verified then, and its old place given back.
            return;
        }
        for (Map.Entry<Integer, CorruptionException> frame :
                verified.damagedFrames().entrySet()) {
            int first = verified.firstSlot(frame.getKey());
            int end = first + verified.slotCount(frame.getKey());
            damagedFrame(verified.container(), frame.getKey(), first, end, frame.getValue());
        }
    }

    private void damagedFrame(long container, int frame, int firstSlot, int endSlot, IOException why)
            throws IOException {
        totals = totals.plusDamagedFrame();
        findings.damagedFrame(container, frame, firstSlot, endSlot, why);
    }

    /**
     * Verifies each frame of a container by itself: its directory is damaged, or a part of it cannot be read.
     *
     * @param why the reason why it could not be read whole
     */
    private void verifyFrames(ContainerEntry entry, IOException why) throws IOException {
        long container = entry.container();
        if (!isCurrent(container, entry.stored())) {
            return;
        }
        totals = totals.plusDamagedContainer();
        findings.damagedContainer(container, why);
        if (Causes.include(why, NoSuchFileException.class)) {
            return;
        }
        try (GracePeriod.Use use = parts.uses().begin()) {
            FrameTable table;
            try {
                table = parts.containers().frameTable(container);
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                damagedFrame(container, -1, 0, entry.stored().slots(), e);
                return;
            }
            for (int frame = 0; frame < table.frames(); frame++) {
                if (!table.isRemoved(frame)) {
                    verifyFrame(container, table, frame);
                }
            }
        }
    }

    private void verifyFrame(long container, FrameTable table, int frame) throws IOException {
        try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            parts.containers().frame(container, frame, true);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            int first = table.firstSlot(frame);
            damagedFrame(container, frame, first, first + table.slotCount(frame), e);
        }
    }

    /**
     * Compares what a container says about itself with the metadata.
     *
     * @return the number of its chunks
     */
    private int compare(Verified verified) throws IOException {
        long container = verified.container();
        SealedContainer directory = verified.directory();
        ContainerCounts counts = parts.metadata().counts().ofContainer(container);
        int chunks = 0;
        long rawBytes = 0;
        @Nullable String contradiction = null;
        for (int slot = 0; slot < Math.max(directory.slots(), counts.slots()); slot++) {
            int length = slot < directory.slots() ? directory.length(slot) : 0;
            boolean isLost = slot < directory.slots() && directory.isLost(slot);
            chunks += length > 0 ? 1 : 0;
            rawBytes += isLost ? directory.listedLength(slot) : length;
            if (!counts.isAlive(slot) || counts.isDamaged(slot)) {
                continue;
            }
            if (length == 0) {
                if (!isCurrent(container, verified.stored())) {
                    return chunks; // It was written anew since it was read: the old place may lack what the new one
                    // has.
                }
                // A lost chunk is unmarked if the metadata come from a backup.
                totals = isLost ? totals.plusDamagedFrame() : totals.plusContradiction();
                findings.missingChunk(container, slot);
            } else if (counts.length(slot) > 0 && counts.length(slot) != length) {
                contradiction = "chunk " + container + ":" + slot + " has " + length + " bytes, and its counts say "
                        + counts.length(slot);
            }
        }
        // Chunks that a collection found unused in a damaged frame cannot be removed, and do not count.
        if (contradiction == null && rawBytes < verified.stored().rawBytes()) {
            contradiction = "container " + container + " has " + rawBytes
                    + " bytes before compression, and the container table says "
                    + verified.stored().rawBytes();
        }
        if (contradiction != null && isCurrent(container, verified.stored())) {
            totals = totals.plusContradiction();
            findings.contradiction(container, contradiction);
        }
        return chunks;
    }

    /** Returns whether the container is still the writing that was read. */
    private boolean isCurrent(long container, StoredContainer read) throws IOException {
        StoredContainer now = parts.metadata().containers().get(container);
        return now != null && now.writing().equals(read.writing());
    }
}
