package org.opendedup.sar.restore.cache;

import com.carrotsearch.hppc.LongHashSet;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;

/**
 * Keeps chunks, not containers: of the chunks read, it keeps those that the window wants, each until the window has no
 * reference to it.
 *
 * <p>When they exceed the memory, some are dropped, and their containers are read again when the chunks are referenced.
 * One read brings back all dropped chunks of a container. So if a chunk is dropped, also dropping the chunks of its
 * container that are referenced later costs no further read. {@link FarthestChunks} chooses where dropping a
 * container's last chunks gains most for that read.
 *
 * <p>With a window as large as the memory nothing has to be dropped: that is forward assembly in its rolling form.
 */
final class WantedChunksCache implements ContainerCache {
    private static final byte ABSENT = 0;
    /** The chunk is being read, and the holder has not been notified. */
    private static final byte ARRIVING = 1;

    private static final byte KEPT = 2;

    private final long memoryBytes;
    private final long windowBytes;
    private final ChunkHolder holder;
    private final LookaheadWindow window = new LookaheadWindow();
    /** The next references of the chunks that are kept or arriving. */
    private final PositionSet references = new PositionSet();
    /** Containers of which a chunk was dropped that is still wanted: they are read again in any case. */
    private final LongHashSet toBeReadAgain = new LongHashSet();

    private final FarthestChunks farthest = new FarthestChunks();

    // Arrays indexed by entry of the window.
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
    public boolean wants(long chunkId) {
        int entry = window.find(chunkId);
        return entry != LookaheadWindow.NONE && states[entry] == ABSENT;
    }

    @Override
    public void read(long container, ContainerContents contents) {
        wasRead(container);
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
        while (weightBytes > memoryBytes) {
            lookAtFarthest();
            farthest.choose(weightBytes - memoryBytes);
            for (int i = 0; i < farthest.count(); i++) {
                int entry = window.entryAt(window.tail() + farthest.distance(i));
                if (farthest.take(i, lengths[entry])) {
                    giveUp(entry);
                }
            }
        }
    }

    private void lookAtFarthest() {
        farthest.clear();
        long position = references.floor(window.head() - 1);
        while (position != PositionSet.NONE && farthest.count() < FarthestChunks.MOST) {
            int entry = window.entryAt(position);
            long container = ChunkId.container(window.key(entry));
            farthest.add(container, lengths[entry], position - window.tail(), toBeReadAgain.contains(container));
            position = references.floor(position - 1);
        }
    }

    private void giveUp(int entry) {
        references.remove(window.next(entry));
        toBeReadAgain.add(ChunkId.container(window.key(entry)));
        leave(entry);
    }

    private void leave(int entry) {
        boolean wasKept = states[entry] == KEPT;
        states[entry] = ABSENT;
        weightBytes -= lengths[entry];
        if (wasKept) {
            holder.drop(window.key(entry));
        }
    }

    private void wasRead(long container) {
        toBeReadAgain.remove(container);
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
        } else {
            // The chunk was used without being kept: it was dropped as soon as it was read, or the reader had it from
            // another source.
            wasRead(ChunkId.container(window.key(entry)));
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
        return window.heapBytes()
                + references.heapBytes()
                + toBeReadAgain.ramBytesAllocated()
                + farthest.heapBytes()
                + (long) states.length * (Integer.BYTES + Byte.BYTES);
    }
}
