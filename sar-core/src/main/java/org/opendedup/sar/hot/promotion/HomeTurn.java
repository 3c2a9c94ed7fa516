package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;

/** Frames of one container that were read from home in one turn. They are in memory until their chunks are offered. */
final class HomeTurn implements FrameConsumer {
    /** Chunk bytes of the frames that are read in one turn. */
    private static final int TURN_BYTES = 2 << 20;

    private final int end;
    private final List<Frame> frames = new ArrayList<>();
    private @Nullable IOException failure;

    private HomeTurn(int end) {
        this.end = end;
    }

    /**
     * Reads the frames of as many chunks as one turn takes.
     *
     * @param chunks returns the chunk ids by their positions, ascending
     * @param from the first position
     * @param to the end of the positions; the turn also ends with the container of the first chunk
     */
    static HomeTurn read(PromotionSources sources, IntToLongFunction chunks, int from, int to) throws IOException {
        long container = ChunkId.container(chunks.applyAsLong(from));
        FrameTable table = sources.containers().frameTable(container);
        int[] numbers = new int[HomeFrames.FRAMES_PER_TURN];
        int count = 0;
        int bytes = 0;
        int end = from;
        for (; end < to && ChunkId.container(chunks.applyAsLong(end)) == container; end++) {
            int frame = sources.frames().frameOf(chunks.applyAsLong(end));
            if (count > 0 && numbers[count - 1] == frame) {
                continue;
            }
            bytes += table.rawLength(frame);
            if (count > 0 && (bytes > TURN_BYTES || count == numbers.length)) {
                break;
            }
            numbers[count++] = frame;
        }
        HomeTurn turn = new HomeTurn(end);
        sources.frames().read(container, numbers, count, turn);
        return turn;
    }

    /** Returns the position after the last chunk of the turn. */
    int end() {
        return end;
    }

    /** Returns the frame that has a slot of the container; null if it could not be read. */
    @Nullable
    Frame frameOf(int slot) {
        for (Frame frame : frames) {
            if (slot >= frame.firstSlot() && slot < frame.firstSlot() + frame.count()) {
                return frame;
            }
        }
        return null;
    }

    void throwIfFailed() throws IOException {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void frame(int frame, Frame contents) {
        frames.add(contents);
    }

    @Override
    public void damaged(int frame, IOException e) {
        failure = e;
    }
}
