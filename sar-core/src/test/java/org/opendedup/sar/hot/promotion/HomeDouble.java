package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.restore.frame.BackgroundFrames;
import org.opendedup.sar.restore.frame.FrameCache;

/** Frames of real containers on a disk of their own; tests say which are in memory, and which are damaged. */
final class HomeDouble implements HomeFrames {
    final DiskQueue disk = new DiskQueue(DiskOption.parse("hdd"), true, System::nanoTime, OptionalLong::empty);
    final Map<Long, Frame> memory = new HashMap<>();
    final Set<Long> damaged = new HashSet<>();
    /** Number of frames of each read. */
    final List<Integer> turns = new ArrayList<>();

    private final HomeFrames stored;

    HomeDouble(ContainerStore containers) {
        stored = new BackgroundFrames(containers, disk, new FrameCache(1 << 20));
    }

    /** Returns the key of a frame in {@link #memory} and {@link #damaged}. */
    static long key(long container, int frame) {
        return FrameId.of(container, frame);
    }

    @Override
    public int frameOf(long chunkId) throws IOException {
        return stored.frameOf(chunkId);
    }

    @Override
    public @Nullable Frame inMemory(long container, int frame) {
        return memory.get(key(container, frame));
    }

    @Override
    public int gapBytes() {
        return stored.gapBytes();
    }

    @Override
    public void read(long container, int[] frames, int count, FrameConsumer consumer) throws IOException {
        turns.add(count);
        stored.read(container, frames, count, new FrameConsumer() {
            @Override
            public void frame(int frame, Frame contents) {
                if (damaged.contains(key(container, frame))) {
                    consumer.damaged(frame, new IOException("damaged"));
                } else {
                    consumer.frame(frame, contents);
                }
            }

            @Override
            public void damaged(int frame, IOException failure) {
                throw new AssertionError(failure);
            }
        });
    }
}
