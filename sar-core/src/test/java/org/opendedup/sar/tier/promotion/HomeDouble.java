package org.opendedup.sar.tier.promotion;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;

/** Frames of real containers, none of which is in memory. */
record HomeDouble(ContainerStore containers) implements HomeFrames {
    @Override
    public int frameOf(long chunkId) throws IOException {
        return containers.frameOf(chunkId);
    }

    @Override
    public @Nullable Frame inMemory(long container, int frame) {
        return null;
    }

    @Override
    public void read(long container, int[] frames, int count, FrameConsumer consumer) throws IOException {
        containers.readFrames(container, frames, count, 0, consumer);
    }
}
