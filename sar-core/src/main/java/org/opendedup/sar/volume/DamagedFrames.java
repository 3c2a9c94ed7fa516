package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frames that were found damaged since the volume was opened: nothing is deleted, but no new data is to refer to them,
 * so that writing the same content again stores it afresh.
 */
final class DamagedFrames {
    private static final Logger log = LoggerFactory.getLogger(DamagedFrames.class);
    /** Frames remembered; a disk with more of them has other worries, and each is still found again when it is read. */
    private static final int MAX_FRAMES = 100_000;

    /** Stands for a slot that its container does not have. */
    private static final int NO_FRAME = ChunkId.MAX_SLOTS - 1;

    private final Set<Long> frames = ConcurrentHashMap.newKeySet();

    /** @param frame the frame's number, or -1 where the container has no such slot */
    void report(long inode, long container, int frame, IOException cause) {
        if (cause instanceof ClosedChannelException || cause instanceof InterruptedIOException) {
            return;
        }
        long key = ChunkId.of(container, frame < 0 ? NO_FRAME : frame);
        boolean isNew = frames.size() < MAX_FRAMES && frames.add(key);
        if (isNew) {
            log.error(
                    "container {}, frame {}, wanted by inode {}, cannot be read: {}",
                    container,
                    frame,
                    inode,
                    cause.getMessage());
        }
    }

    boolean contains(long chunk, ContainerStore containers) {
        if (frames.isEmpty()) {
            return false;
        }
        try {
            return frames.contains(ChunkId.of(ChunkId.container(chunk), containers.frameOf(chunk)));
        } catch (IOException e) {
            log.warn("chunk {} is not referred to again: {}", ChunkId.toString(chunk), e.getMessage());
            return true;
        }
    }
}
