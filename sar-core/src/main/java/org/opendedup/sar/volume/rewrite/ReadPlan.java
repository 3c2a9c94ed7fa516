package org.opendedup.sar.volume.rewrite;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.disk.DiskModel;

/**
 * Predicts how a disk reads a window of files, and chooses the chunks that are worth moving. A reader keeps what it
 * read for a window, so it reads the wanted frames of a window in the order of the disk: over short gaps, with a seek
 * at long ones, which costs as much as reading {@link DiskModel#seekBytes}.
 *
 * <p>A piece is a group of wanted frames that lie near each other. To move it saves its bytes and one of the gaps
 * beside it, and costs the bytes to be read in the new place. The pieces that save most for each byte moved come first,
 * so a few short ones between long ones; a file is not written anew as a whole. HAR (ATC '14) chooses by the use of
 * containers instead, which says little where containers lie in one piece (docs/SPACE.md).
 *
 * <p>For one window, by one thread. Memory: about 120 bytes a chunk at most.
 */
final class ReadPlan {
    /** Least bytes of transfer saved for a byte moved; and how much more the pieces of each earlier pass save. */
    private static final double[] SAVED_PER_BYTE = {32, 16, 8, 4, 2, 1};

    /** Largest gaps within a piece, in shares of a seek. */
    private static final double[] GAPS = {0.01, 0.05, 0.2, 0.5, 1};

    private final DiskModel disk;
    private final double seek;
    private final LongIntHashMap frameIndex = new LongIntHashMap();
    private final List<WantedFrame> frames = new ArrayList<>();
    /** The chunks in the order of the files, each once. */
    private final List<WantedChunk> chunks = new ArrayList<>();

    private final LongIntHashMap chunkIndex = new LongIntHashMap();
    private List<WantedFrame> staying = List.of();
    private long movedBytes;
    private double newBytes;

    /** A frame of which the window wants something. */
    private static final class WantedFrame {
        final long pack;
        final long start;
        final long end;
        final int rawLength;
        int wantedBytes;
        boolean isFixed;
        boolean isMoved;

        WantedFrame(LocatedTable at, int frame) {
            pack = at.pack();
            start = at.start(frame);
            end = at.end(frame);
            rawLength = Math.max(1, at.table().rawLength(frame));
        }

        /** Bytes that the wanted chunks take in a new place. */
        double newBytes() {
            return (double) (end - start) * Math.min(1, (double) wantedBytes / rawLength);
        }
    }

    private record WantedChunk(long id, WantedFrame frame) {}

    ReadPlan(DiskModel disk) {
        this.disk = disk;
        seek = disk.seekBytes();
    }

    /**
     * Adds a reference, in the order of the files.
     *
     * @param at place of the chunk's container
     * @param length bytes of the reference
     * @param mayMove whether the frame of the chunk may be moved
     */
    void want(long chunkId, LocatedTable at, int length, boolean mayMove) {
        int number = at.table().frameOf(ChunkId.slot(chunkId));
        if (number < 0) {
            return;
        }
        WantedFrame frame = frame(chunkId, at, number);
        frame.isFixed |= !mayMove;
        if (chunkIndex.putIfAbsent(chunkId, chunks.size())) {
            frame.wantedBytes += length;
            chunks.add(new WantedChunk(chunkId, frame));
        }
    }

    private WantedFrame frame(long chunkId, LocatedTable at, int number) {
        long key = ChunkId.of(ChunkId.container(chunkId), number);
        int index = frameIndex.getOrDefault(key, -1);
        if (index < 0) {
            frameIndex.put(key, frames.size());
            frames.add(new WantedFrame(at, number));
            staying = List.of();
            return frames.get(frames.size() - 1);
        }
        return frames.get(index);
    }

    /** Returns the predicted time of reading the window as it is after {@link #choose}, in seconds. */
    double seconds() {
        long requests = movedBytes > 0 ? 1 : 0;
        double bytes = newBytes;
        @Nullable WantedFrame last = null;
        for (WantedFrame frame : inDiskOrder()) {
            double gap = gap(last, frame);
            requests += gap > seek ? 1 : 0;
            bytes += frame.end - frame.start + (gap > seek ? 0 : gap);
            last = frame;
        }
        return disk.seconds(requests, Math.round(bytes));
    }

    private List<WantedFrame> inDiskOrder() {
        if (staying.isEmpty()) {
            staying = new ArrayList<>(frames);
            staying.removeIf(frame -> frame.isMoved);
            staying.sort(
                    Comparator.<WantedFrame>comparingLong(frame -> frame.pack).thenComparingLong(frame -> frame.start));
        }
        return staying;
    }

    /** Bytes between two frames; infinite if one is missing or they lie in different packs. */
    private static double gap(@Nullable WantedFrame before, @Nullable WantedFrame after) {
        return before == null || after == null || before.pack != after.pack
                ? Double.POSITIVE_INFINITY
                : Math.max(0, after.start - before.end);
    }

    /**
     * Chooses pieces to move.
     *
     * @param maxBytes most bytes, before compression
     * @param gain least predicted time before, divided by that after; otherwise nothing is chosen
     * @return the chunks to move, in the order of the files
     */
    List<Long> choose(long maxBytes, double gain) {
        double before = seconds();
        for (double least : SAVED_PER_BYTE) {
            for (double share : GAPS) {
                boolean more;
                do {
                    more = choose(maxBytes, least, share * seek);
                } while (more);
            }
        }
        if (movedBytes == 0 || before < gain * seconds()) {
            keepAll();
            return List.of();
        }
        return chunks.stream()
                .filter(chunk -> chunk.frame.isMoved)
                .map(WantedChunk::id)
                .toList();
    }

    /** Visits the chunks that were not chosen. */
    void forEachStaying(LongConsumer visitor) {
        for (WantedChunk chunk : chunks) {
            if (!chunk.frame.isMoved) {
                visitor.accept(chunk.id);
            }
        }
    }

    private void keepAll() {
        frames.forEach(frame -> frame.isMoved = false);
        staying = List.of();
        movedBytes = 0;
        newBytes = 0;
    }

    /** Chooses the pieces with these gaps within them that save enough. Returns whether there were any. */
    private boolean choose(long maxBytes, double leastSavedPerByte, double maxGap) {
        List<WantedFrame> ordered = inDiskOrder();
        boolean any = false;
        int from = 0;
        while (from < ordered.size()) {
            int to = from + 1;
            while (to < ordered.size() && gap(ordered.get(to - 1), ordered.get(to)) <= maxGap) {
                to++;
            }
            any |= chooseIfWorth(ordered, from, to, maxBytes, leastSavedPerByte);
            from = to;
        }
        if (any) {
            staying = List.of();
        }
        return any;
    }

    private boolean chooseIfWorth(
            List<WantedFrame> ordered, int from, int to, long maxBytes, double leastSavedPerByte) {
        long wanted = 0;
        double inNewPlace = 0;
        for (int i = from; i < to; i++) {
            WantedFrame frame = ordered.get(i);
            if (frame.isFixed) {
                return false;
            }
            wanted += frame.wantedBytes;
            inNewPlace += frame.newBytes();
        }
        double left = gap(from == 0 ? null : ordered.get(from - 1), ordered.get(from));
        double right = gap(ordered.get(to - 1), to == ordered.size() ? null : ordered.get(to));
        // Gaps within the piece are shorter than a seek, so all of its bytes are read.
        double bytes = (double) ordered.get(to - 1).end - ordered.get(from).start;
        double saved = Math.min(left, seek)
                + bytes
                + Math.min(right, seek)
                - Math.min(left + bytes + right, seek)
                - inNewPlace;
        if (saved < leastSavedPerByte * wanted || movedBytes + wanted > maxBytes) {
            return false;
        }
        for (int i = from; i < to; i++) {
            ordered.get(i).isMoved = true;
        }
        movedBytes += wanted;
        newBytes += inNewPlace;
        return true;
    }
}
