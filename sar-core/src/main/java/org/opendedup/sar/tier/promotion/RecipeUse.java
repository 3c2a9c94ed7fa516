package org.opendedup.sar.tier.promotion;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskCost;

/**
 * Determines what a part of a file's recipe needs of each container, and what that costs a disk: plain values in,
 * {@link RecipeRequests} out. A restore is slowed by containers of which it needs little, or which it must visit again.
 * For use by one thread.
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
     * @param windowBytes bytes of the file over which a restore keeps what it has read in memory: a container needed
     *     again later must be visited again
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
     * Returns the disk requests of visits that need less than half of their container.
     *
     * @param gapBytes largest gap between two frames, in bytes, over which a restore joins them to one request
     */
    RecipeRequests analyse(ContainerLayout.Source layouts, int gapBytes) {
        RecipeRequests requests = new RecipeRequests();
        int[] order = byContainer();
        for (int from = 0; from < count; ) {
            long container = ChunkId.container(chunkIds[order[from]]);
            int to = from + 1;
            while (to < count && ChunkId.container(chunkIds[order[to]]) == container) {
                to++;
            }
            ContainerLayout layout = layouts.of(container);
            if (layout != null) {
                addVisits(layout, gapBytes, order, from, to, requests);
            }
            from = to;
        }
        return requests;
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

    private void addVisits(
            ContainerLayout layout, int gapBytes, int[] order, int from, int to, RecipeRequests requests) {
        int visits = 1;
        for (int i = from + 1; i < to; i++) {
            visits += isFarBehind(order[i], order[i - 1]) ? 1 : 0;
        }
        long container = ChunkId.container(chunkIds[order[from]]);
        for (int start = from; start < to; ) {
            int end = start + 1;
            while (end < to && !isFarBehind(order[end], order[end - 1])) {
                end++;
            }
            new Visit(container, layout, gapBytes, wanted(order, start, end)).addTo(requests, visits);
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

    /** What is needed of a container between its read and the end of the window. */
    private record Visit(long container, ContainerLayout layout, int gapBytes, long[] wanted) {
        void addTo(RecipeRequests requests, int visitsOfContainer) {
            if (2 * bytes(0, wanted.length) >= layout.rawBytes()) {
                return;
            }
            for (int from = 0; from < wanted.length; ) {
                int to = from + 1;
                while (to < wanted.length && joins(frame(to - 1), frame(to))) {
                    to++;
                }
                if (frame(from) >= 0) {
                    addRequest(requests, from, to, visitsOfContainer);
                }
                from = to;
            }
        }

        private void addRequest(RecipeRequests requests, int from, int to, int visitsOfContainer) {
            for (int i = from; i < to; i++) {
                requests.add(ChunkId.of(container, slot(i)), (int) wanted[i]);
            }
            int last = frame(to - 1);
            long transferred = layout.fileOffset(last) + layout.fileLength(last) - layout.fileOffset(frame(from));
            requests.end(DiskCost.saving(bytes(from, to), transferred), visitsOfContainer);
        }

        /** Returns whether the disk reads two frames in one request. */
        private boolean joins(int frame, int next) {
            return frame == next
                    || frame >= 0
                            && next >= 0
                            && layout.fileOffset(next) - layout.fileOffset(frame) - layout.fileLength(frame)
                                    <= gapBytes;
        }

        private long bytes(int from, int to) {
            long bytes = 0;
            for (int i = from; i < to; i++) {
                bytes += (int) wanted[i];
            }
            return bytes;
        }

        private int slot(int i) {
            return (int) (wanted[i] >>> Integer.SIZE);
        }

        private int frame(int i) {
            return layout.frameOf(slot(i));
        }
    }
}
