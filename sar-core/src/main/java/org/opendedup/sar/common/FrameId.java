package org.opendedup.sar.common;

/**
 * A frame id: the name of one frame of a container. It is a {@code long} made of a container id and the number of the
 * frame in its container, with the bits of a {@link ChunkId}: a container has at least one slot for each frame. Ids in
 * ascending order are the order of the frames in their containers.
 *
 * <p>The hot paths keep ids in {@code long[]}, so this class has no instances, only the arithmetic.
 */
public final class FrameId {
    private FrameId() {}

    /** Returns the id of the frame that has a number, from 0, in a container. */
    public static long of(long container, int number) {
        return ChunkId.of(container, number);
    }

    /** Returns the id of the frame that has a number in the container of a chunk. */
    public static long inContainerOf(long chunkId, int number) {
        return of(ChunkId.container(chunkId), number);
    }

    /** Returns the id of the container that the frame is in. */
    public static long container(long frameId) {
        return ChunkId.container(frameId);
    }

    /** Returns the number of the frame in its container, from 0. */
    public static int number(long frameId) {
        return ChunkId.slot(frameId);
    }

    /** Returns {@code container:frame number}, as log lines show it. */
    public static String toString(long frameId) {
        return container(frameId) + ":frame " + number(frameId);
    }
}
