package org.opendedup.sar.volume.rewrite;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.IntStream;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * Copies that are to be given up, each with the one that is kept instead. Memory: 10.4 MB, and 4 MB while they are put
 * in order. For one thread.
 */
final class JoinBatch {
    private final int capacity;
    private final long[] old;
    private final long[] kept;
    private final int[] lengths;
    private final byte[] fingerprints;
    private int count;

    JoinBatch(int capacity) {
        this.capacity = capacity;
        old = new long[capacity];
        kept = new long[capacity];
        lengths = new int[capacity];
        fingerprints = new byte[capacity * Fingerprints.BYTES];
    }

    boolean isFull() {
        return count == capacity;
    }

    int count() {
        return count;
    }

    long old(int entry) {
        return old[entry];
    }

    int length(int entry) {
        return lengths[entry];
    }

    /** Adds a copy of the group's content. */
    void add(long oldChunk, long keptChunk, DuplicateGroups group) {
        old[count] = oldChunk;
        kept[count] = keptChunk;
        lengths[count] = group.length();
        group.fingerprint(fingerprints, count * Fingerprints.BYTES);
        count++;
    }

    void clear() {
        count = 0;
    }

    /** Returns the copies to be kept, each once, in the order of containers and slots. */
    long[] kept() {
        return Arrays.stream(kept, 0, count).sorted().distinct().toArray();
    }

    /** Leaves copies as they are for which one of these was to be kept. */
    void leave(Set<Long> unusable) {
        for (int entry = 0; entry < count; entry++) {
            if (unusable.contains(kept[entry])) {
                kept[entry] = ChunkId.NONE;
            }
        }
    }

    NewCopies copies() {
        NewCopies copies = new NewCopies();
        for (int entry = 0; entry < count; entry++) {
            if (kept[entry] != ChunkId.NONE) {
                copies.add(old[entry], kept[entry]);
            }
        }
        return copies;
    }

    /** Returns the entries in the order of the copies that are given up. */
    int[] inOrder() {
        return IntStream.range(0, count)
                .filter(entry -> kept[entry] != ChunkId.NONE)
                .boxed()
                .sorted(Comparator.comparingLong(entry -> old[entry]))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /** Fills a segment with the fingerprints of some entries. */
    void fill(Segment segment, int[] entries, int from, int to) {
        segment.clear();
        for (int i = from; i < to; i++) {
            segment.add(0, lengths[entries[i]], false);
            System.arraycopy(
                    fingerprints,
                    entries[i] * Fingerprints.BYTES,
                    segment.fingerprints(),
                    Segment.fingerprintOffset(i - from),
                    Fingerprints.BYTES);
        }
    }

    long keptOf(int entry) {
        return kept[entry];
    }
}
