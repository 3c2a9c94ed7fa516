package org.opendedup.sar.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubTotals;

/**
 * Compares random samples of the fingerprint index with the containers, in both directions: the chunk that an entry
 * names exists and has its fingerprint; and a stored chunk is found. Removes wrong entries, which a writer would take
 * for duplicates. An index with no more entries than a sample is compared whole. For use by one thread.
 */
public final class IndexScrub {
    /** Entries that are examined: if one in a thousand is wrong, at least one such is found with 98 %. */
    private static final int ENTRIES = 4096;

    /** Containers of which chunks are looked up, and how many of each at most. */
    private static final int CONTAINERS = 256;

    private static final int CHUNKS_OF_CONTAINER = 16;

    /** About what is read for one entry: a block of the index. */
    private static final int ENTRY_BYTES = 4 << 10;

    /** About what is read of one container: its directory. */
    private static final int DIRECTORY_BYTES = 32 << 10;

    private final ChunkIndex index;
    private final Scrubber.Parts parts;
    private final Directories directories;
    private final Pace pace;
    private final Findings findings;
    private final ScrubProgress progress;
    private final SplittableRandom random;

    private ScrubTotals totals = ScrubTotals.NONE;
    private boolean stopped;

    /** @param seed decides which samples are taken */
    public IndexScrub(
            ChunkIndex index, Scrubber.Parts parts, Pace pace, Findings findings, ScrubProgress progress, long seed) {
        this.index = index;
        this.parts = parts;
        this.pace = pace;
        this.findings = findings;
        this.progress = progress;
        directories = new Directories(parts);
        random = new SplittableRandom(seed);
    }

    /**
     * Examines the samples, from the first on. Ends early, and says so, if the index cannot be read.
     *
     * @param before what the scrub has verified; samples of the index do not count, since they are taken again
     * @return what was verified, {@code before} included
     * @throws InterruptedIOException if the progress stopped it
     */
    public ScrubTotals run(ScrubTotals before) throws IOException {
        totals = before.with(ScrubTotals.Index.NONE);
        try {
            if (!index.keepsAnything()) {
                throw new PartUnusable("the volume runs without one");
            }
            for (Map.Entry<Long, List<Entry>> some : entries().entrySet()) {
                if (!goesOn(DIRECTORY_BYTES)) {
                    break;
                }
                examine(some.getKey(), some.getValue());
            }
            for (long container : stopped ? List.<Long>of() : containers()) {
                if (!goesOn(DIRECTORY_BYTES)) {
                    break;
                }
                lookUp(container);
            }
        } catch (PartUnusable e) {
            totals = totals.with(totals.index().passOver());
            findings.passedOver("the fingerprint index", e.why());
        }
        if (stopped) {
            throw new InterruptedIOException("the scrub was stopped");
        }
        return totals;
    }

    private boolean goesOn() {
        stopped = stopped || !progress.verified(totals, 0, ScrubCursor.beginOf(ScrubPhase.INDEX));
        return !stopped;
    }

    private boolean goesOn(long bytes) throws IOException {
        pace.await(bytes, this::goesOn);
        return goesOn();
    }

    /** An entry of the index. */
    private record Entry(byte[] fingerprint, long chunk) {}

    /** Returns the sampled entries, by the container that they name. */
    private SortedMap<Long, List<Entry>> entries() throws IOException, PartUnusable {
        Map<ByteBuffer, Entry> sampled = new HashMap<>();
        ChunkIndex.EntryVisitor visitor =
                (fingerprint, chunk) -> sampled.put(ByteBuffer.wrap(fingerprint), new Entry(fingerprint, chunk));
        // The estimate includes records that are no entries, and may miss some: so there are fewer than a sample.
        if (estimatedEntries() <= ENTRIES / 2) {
            PartUnusable.use(() -> index.forEachAfter(null, ENTRIES, visitor));
        } else {
            for (int i = 0; i < ENTRIES && goesOn(ENTRY_BYTES); i++) {
                PartUnusable.use(() -> index.sample(random, visitor));
            }
        }
        SortedMap<Long, List<Entry>> containers = new TreeMap<>();
        for (Entry entry : sampled.values()) {
            containers
                    .computeIfAbsent(ChunkId.container(entry.chunk), container -> new ArrayList<>())
                    .add(entry);
        }
        return containers;
    }

    private long estimatedEntries() throws PartUnusable {
        long[] estimated = new long[1];
        PartUnusable.use(() -> estimated[0] = index.estimatedChunks());
        return estimated[0];
    }

    private void examine(long container, List<Entry> entries) throws IOException, PartUnusable {
        ContainerCounts counts = directories.counts(container);
        SealedContainer directory = directories.get(container, counts);
        long wrong = 0;
        long stale = 0;
        for (Entry entry : entries) {
            int slot = ChunkId.slot(entry.chunk);
            if (!counts.isAlive(slot)) {
                stale += remove(entry, "which is not stored") ? 1 : 0;
            } else if (directory != null && Directories.isOther(directory, slot, entry.fingerprint, 0)) {
                wrong += remove(entry, "which has another fingerprint") ? 1 : 0;
            }
        }
        totals = totals.with(totals.index().plusEntries(entries.size(), wrong, stale));
    }

    /** Removes an entry; returns false if it was changed meanwhile, as collections and writers do. */
    private boolean remove(Entry entry, String what) throws PartUnusable {
        if (!Directories.leadsTo(index, entry.fingerprint, entry.chunk)) {
            return false;
        }
        int slot = ChunkId.slot(entry.chunk);
        byte[] bySlot = new byte[(slot + 1) * Fingerprints.BYTES];
        System.arraycopy(entry.fingerprint, 0, bySlot, slot * Fingerprints.BYTES, Fingerprints.BYTES);
        BitSet slots = new BitSet();
        slots.set(slot);
        PartUnusable.use(() -> index.remove(ChunkId.container(entry.chunk), bySlot, slots));
        findings.wrongEntry("the entry of fingerprint " + Fingerprints.toHex(entry.fingerprint, 0) + " named chunk "
                + ChunkId.toString(entry.chunk) + ", " + what);
        return true;
    }

    /** Returns a random sample of the sealed containers (Vitter, algorithm R). */
    private List<Long> containers() throws IOException {
        List<Long> sample = new ArrayList<>();
        int[] seen = new int[1];
        parts.metadata().containers().forEach(entry -> {
            if (entry.stored().state() == StoredContainer.State.SEALED) {
                add(sample, entry.container(), CONTAINERS, seen[0]++);
            }
        });
        sample.sort(null);
        return sample;
    }

    /**
     * Adds a candidate to a sample, or puts it in the place of a random one, or leaves it out.
     *
     * @param most size of the sample
     * @param seen number of candidates before this one
     */
    private <T> void add(List<T> sample, T candidate, int most, int seen) {
        if (sample.size() < most) {
            sample.add(candidate);
            return;
        }
        int at = random.nextInt(seen + 1);
        if (at < most) {
            sample.set(at, candidate);
        }
    }

    /** Looks some chunks of a container up that files refer to. */
    private void lookUp(long container) throws IOException, PartUnusable {
        ContainerCounts counts = directories.counts(container);
        SealedContainer directory = directories.get(container, counts);
        if (directory == null) {
            return;
        }
        List<Integer> slots = sample(directory, counts);
        Segment segment = new Segment(0);
        for (int i = 0; i < slots.size(); i++) {
            segment.add(0, directory.length(slots.get(i)), false);
            System.arraycopy(
                    directory.fingerprints(),
                    slots.get(i) * Fingerprints.BYTES,
                    segment.fingerprints(),
                    Segment.fingerprintOffset(i),
                    Fingerprints.BYTES);
        }
        PartUnusable.use(() -> index.lookup(segment));
        long missing = 0;
        for (int i = 0; i < slots.size(); i++) {
            // A chunk that lost its last reference meanwhile may have been collected.
            missing += segment.hint(i) == ChunkId.NONE
                            && directories.counts(container).count(slots.get(i)) > 0
                    ? 1
                    : 0;
        }
        totals = totals.with(totals.index().plusChunks(slots.size(), missing));
    }

    private List<Integer> sample(SealedContainer directory, ContainerCounts counts) {
        List<Integer> slots = new ArrayList<>();
        int seen = 0;
        for (int slot = 0; slot < directory.slots(); slot++) {
            if (directory.length(slot) > 0 && counts.count(slot) > 0 && !counts.isDamaged(slot)) {
                add(slots, slot, CHUNKS_OF_CONTAINER, seen++);
            }
        }
        return slots;
    }
}
