package org.opendedup.sar.hot.promotion;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.opendedup.sar.common.ChunkId;

/**
 * Determines which disk requests a part of a file's recipe needs, and what they cost: plain values in,
 * {@link RecipeRequests} out. The requests follow the places in the packs: a container right behind another costs no
 * seek, but one chunk far from all others does, even in the same container. A restore is slowed by places of which it
 * needs little, or which it must visit again. For use by one thread.
 */
final class RecipeUse {
    private static final int POSITION_BITS = 20;
    /** Most references of one part: 8 GiB of file in chunks of 8 KiB, analysed in about 80 MiB of heap. */
    static final int MAX_REFERENCES = 1 << POSITION_BITS;

    private final long windowBytes;
    private final int maxReferences;
    private long[] chunkIds = new long[1024];
    private int[] lengths = new int[1024];
    private long[] offsets = new long[1024];
    private int count;

    /**
     * @param windowBytes bytes of the file over which a restore keeps what it has read in memory: a place needed again
     *     later must be visited again
     */
    RecipeUse(long windowBytes) {
        this(windowBytes, MAX_REFERENCES);
    }

    /**
     * As above.
     *
     * @param maxReferences references of one part, up to {@link #MAX_REFERENCES}
     */
    RecipeUse(long windowBytes, int maxReferences) {
        this.windowBytes = windowBytes;
        this.maxReferences = maxReferences;
    }

    /** Returns how many more references can be added. */
    int room() {
        return maxReferences - count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Returns the bytes of the file that these references cover. */
    long bytes() {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += lengths[i];
        }
        return bytes;
    }

    /** Adds the next reference in file order; there must be {@link #room}. */
    void add(long fileOffset, long chunkId, int length) {
        assert room() > 0 : count;
        if (count == chunkIds.length) {
            chunkIds = Arrays.copyOf(chunkIds, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count);
        }
        chunkIds[count] = chunkId;
        lengths[count] = length;
        offsets[count++] = fileOffset;
    }

    /** Removes all references. */
    void clear() {
        count = 0;
    }

    /**
     * Returns the disk requests of which the disk spends more time on the seek than on the transfer.
     *
     * @param gapBytes largest gap between two frames, in bytes, over which a restore joins them to one request
     */
    RecipeRequests analyse(ContainerLayout.Source layouts, int gapBytes) {
        RecipeRequests requests = new RecipeRequests();
        RequestJoiner joiner = new RequestJoiner(gapBytes, windowBytes, requests);
        int[] order = byContainer();
        for (Part part : parts(layouts, order)) {
            joiner.begin(part.layout);
            addVisits(part, order, joiner);
        }
        joiner.end();
        return requests;
    }

    /**
     * What is wanted of one container.
     *
     * @param from first of its positions in the order by container
     * @param to end of them
     */
    private record Part(ContainerLayout layout, int from, int to) {}

    /** Returns the parts of all containers that are available, in the order of their places. */
    private List<Part> parts(ContainerLayout.Source layouts, int[] order) {
        List<Part> parts = new ArrayList<>();
        for (int from = 0; from < count; ) {
            long container = ChunkId.container(chunkIds[order[from]]);
            int to = from + 1;
            while (to < count && ChunkId.container(chunkIds[order[to]]) == container) {
                to++;
            }
            ContainerLayout layout = layouts.of(container);
            if (layout != null) {
                parts.add(new Part(layout, from, to));
            }
            from = to;
        }
        parts.sort(Comparator.<Part>comparingLong(part -> part.layout.pack())
                .thenComparingLong(part -> part.layout.offset()));
        return parts;
    }

    /** Returns the positions of all references, by container; those of one container in file order. */
    private int[] byContainer() {
        long[] containers = new long[count];
        for (int i = 0; i < count; i++) {
            containers[i] = ChunkId.container(chunkIds[i]);
        }
        Arrays.sort(containers);
        int distinct = distinct(containers, count);
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            long rank = Arrays.binarySearch(containers, 0, distinct, ChunkId.container(chunkIds[i]));
            keys[i] = rank << POSITION_BITS | i;
        }
        Arrays.sort(keys);
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            order[i] = (int) (keys[i] & (MAX_REFERENCES - 1));
        }
        return order;
    }

    /** Moves the distinct values of a sorted array to its front; returns their number. */
    private static int distinct(long[] sorted, int length) {
        int distinct = 0;
        for (int i = 0; i < length; i++) {
            if (i == 0 || sorted[i] != sorted[i - 1]) {
                sorted[distinct++] = sorted[i];
            }
        }
        return distinct;
    }

    private void addVisits(Part part, int[] order, RequestJoiner joiner) {
        int visits = 1;
        for (int i = part.from + 1; i < part.to; i++) {
            visits += isFarBehind(order[i], order[i - 1]) ? 1 : 0;
        }
        long container = ChunkId.container(chunkIds[order[part.from]]);
        for (int start = part.from; start < part.to; ) {
            int end = start + 1;
            while (end < part.to && !isFarBehind(order[end], order[end - 1])) {
                end++;
            }
            joiner.visit(offsets[order[start]], offsets[order[end - 1]], visits);
            for (long wanted : wanted(order, start, end)) {
                joiner.add(ChunkId.of(container, (int) (wanted >>> Integer.SIZE)), (int) wanted);
            }
            start = end;
        }
    }

    /** Returns whether a restore no longer has in memory, at one reference, what it read for the earlier one. */
    private boolean isFarBehind(int reference, int earlier) {
        return offsets[reference] - offsets[earlier] > windowBytes;
    }

    /**
     * Returns the slots that the references of a visit need, ascending, each once, with the bytes needed of it: slot
     * &lt;&lt; 32 | bytes.
     */
    private long[] wanted(int[] order, int from, int to) {
        long[] wanted = new long[to - from];
        for (int i = from; i < to; i++) {
            wanted[i - from] = (long) ChunkId.slot(chunkIds[order[i]]) << Integer.SIZE | lengths[order[i]];
        }
        Arrays.sort(wanted);
        int distinct = 0;
        for (int i = 0; i < wanted.length; i++) {
            // Of a chunk that a page border cut, the longest piece is last.
            boolean last = i + 1 == wanted.length || wanted[i] >>> Integer.SIZE != wanted[i + 1] >>> Integer.SIZE;
            if (last) {
                wanted[distinct++] = wanted[i];
            }
        }
        return Arrays.copyOf(wanted, distinct);
    }
}
