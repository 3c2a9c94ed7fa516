package org.opendedup.sar.restore.frame;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.hot.promotion.HomeFrames;

/**
 * The frames of a volume for background work. Frames that readers have in memory are used; others are read from the
 * disk in turns of which readers come first. Frames read here enter no cache, and are not counted as reads.
 */
public record BackgroundFrames(ContainerStore containers, DiskQueue disk, FrameCache cache) implements HomeFrames {
    @Override
    public int frameOf(long chunkId) throws IOException {
        return containers.frameOf(chunkId);
    }

    @Override
    public @Nullable Frame inMemory(long container, int frame) {
        return cache.get(container, frame);
    }

    @Override
    public int gapBytes() {
        return disk.model().gapBytes();
    }

    @Override
    public void read(long container, int[] frames, int count, FrameConsumer consumer) throws IOException {
        try (DiskQueue.Turn turn = disk.enter(Importance.BACKGROUND)) {
            containers.readFrames(container, frames, count, gapBytes(), new InTurn(turn, consumer));
        }
    }

    /** Passes frames on, and notes their requests for the model of the disk. */
    private record InTurn(DiskQueue.Turn turn, FrameConsumer consumer) implements FrameConsumer {
        @Override
        public void frame(int frame, Frame contents) {
            consumer.frame(frame, contents);
        }

        @Override
        public void damaged(int frame, IOException failure) {
            consumer.damaged(frame, failure);
        }

        @Override
        public void requested(long pack, long offset, int bytes, long nanos) {
            turn.requested(pack, offset, bytes, nanos);
            consumer.requested(pack, offset, bytes, nanos);
        }

        @Override
        public boolean verifiesFingerprints() {
            return consumer.verifiesFingerprints();
        }
    }
}
