package org.opendedup.sar.restore.cache;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;

/**
 * Keeps chunks, not containers: of what is read, those that the window wants. When they are more than the memory holds, those go whose
 * next reference is farthest. A chunk leaves when the window has no reference to it.
 */
final class WantedChunksCache implements ContainerCache {
    private static final byte ABSENT = 0;
    /** Being read, and not told to the holder. */
    private static final byte ARRIVING = 1;

    private static final byte KEPT = 2;

    private final long memoryBytes;
    private final long windowBytes;
    private final ChunkHolder holder;
    private final LookaheadWindow window = new LookaheadWindow();
    /** The next references of the chunks that are kept or arriving. */
    private final PositionSet references = new PositionSet();

    // By entry of the window.
    private byte[] states = new byte[0];
    private int[] lengths = new int[0];

    private long weightBytes;
    private long highWaterBytes;

    WantedChunksCache(long memoryBytes, long windowBytes, ChunkHolder holder) {
        this.memoryBytes = memoryBytes;
        this.windowBytes = windowBytes;
        this.holder = holder;
    }

    @Override
    public long windowBytes() {
        return windowBytes;
    }

    @Override
    public void ahead(long chunkId, int bytes) {
        int entry = window.enter(chunkId);
        if (entry >= states.length) {
            states = Arrays.copyOf(states, window.entryCapacity());
            lengths = Arrays.copyOf(lengths, window.entryCapacity());
        }
        references.cover(window.tail(), window.head());
    }

    @Override
    public boolean contains(long chunkId) {
        int entry = window.find(chunkId);
        return entry != LookaheadWindow.NONE && states[entry] == KEPT;
    }

    @Override
    public void read(long container, ContainerContents contents) {
        for (int i = 0; i < contents.count(); i++) {
            int entry = window.find(ChunkId.of(container, contents.slot(i)));
            if (entry != LookaheadWindow.NONE && states[entry] == ABSENT) {
                take(entry, contents.bytes(i));
            }
        }
        makeRoom();
        highWaterBytes = Math.max(highWaterBytes, weightBytes);
        for (int i = 0; i < contents.count(); i++) {
            long chunkId = ChunkId.of(container, contents.slot(i));
            int entry = window.find(chunkId);
            if (entry != LookaheadWindow.NONE && states[entry] == ARRIVING) {
                states[entry] = KEPT;
                holder.keep(chunkId);
            }
        }
    }

    private void take(int entry, int bytes) {
        states[entry] = ARRIVING;
        lengths[entry] = bytes;
        weightBytes += bytes;
        references.add(window.next(entry));
    }

    private void makeRoom() {
        long position = window.head();
        while (weightBytes > memoryBytes) {
            position = references.floor(position - 1);
            giveUp(window.entryAt(position));
        }
    }

    private void giveUp(int entry) {
        references.remove(window.next(entry));
        leave(entry);
    }

    private void leave(int entry) {
        boolean told = states[entry] == KEPT;
        states[entry] = ABSENT;
        weightBytes -= lengths[entry];
        if (told) {
            holder.drop(window.key(entry));
        }
    }

    @Override
    public void advance() {
        int entry = window.current();
        long position = window.tail();
        boolean comesAgain = window.currentComesAgain();
        window.slide();
        if (states[entry] == KEPT) {
            references.remove(position);
            if (comesAgain) {
                references.add(window.next(entry));
            } else {
                leave(entry);
            }
        }
    }

    @Override
    public long weightBytes() {
        return weightBytes;
    }

    @Override
    public long highWaterBytes() {
        return highWaterBytes;
    }

    @Override
    public long tableBytes() {
        return window.heapBytes() + references.heapBytes() + (long) states.length * (Integer.BYTES + Byte.BYTES);
    }
}
