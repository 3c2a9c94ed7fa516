package org.opendedup.sar.hot;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.hot.FileExplanation.DiskWork;
import org.opendedup.sar.hot.promotion.FrameTables;

/**
 * A model of a disk that counts the work of reading a file in sequence from cold caches. For each request it reads the
 * frames that are not in memory, sorted, and joins near ones. For use by one thread.
 */
final class ColdRead {
    /**
     * Largest gap between two frames that one read covers, in bytes. Reading it takes a sixth of a seek's time. Fixed,
     * so that explanations of different volumes can be compared; the restore engine uses the measured gap.
     */
    static final int GAP_BYTES = 256 << 10;
    /** Frames that stay in memory: 64 MiB with frames of 64 KiB. */
    private static final int FRAMES_IN_MEMORY = 1024;

    /** Frames wanted by the request, as {@link FrameId}s. */
    private long[] wanted = new long[64];

    private int count;
    private final Map<Long, Boolean> memory = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > FRAMES_IN_MEMORY;
        }
    };

    /** Position of the disk's head: a pack, and the offset in it one past the last byte read. */
    private long headPack = LocatedTable.NO_PACK;

    private long headOffset;
    private long requests;
    private long bytes;

    boolean isInMemory(long container, int frame) {
        return memory.containsKey(FrameId.of(container, frame));
    }

    /** Adds a frame that the request needs. A frame may be added more than once. */
    void want(long container, int frame) {
        if (memory.get(FrameId.of(container, frame)) != null) {
            return;
        }
        if (count == wanted.length) {
            wanted = Arrays.copyOf(wanted, count * 2);
        }
        wanted[count++] = FrameId.of(container, frame);
    }

    /** Reads the frames of the request that are not in memory. */
    void read(FrameTables tables) throws IOException {
        Arrays.sort(wanted, 0, count);
        for (int i = 0; i < count; i++) {
            if (i > 0 && wanted[i] == wanted[i - 1]) {
                continue;
            }
            long container = FrameId.container(wanted[i]);
            read(tables.of(container), FrameId.number(wanted[i]));
            memory.put(wanted[i], true);
        }
        count = 0;
    }

    private void read(LocatedTable at, int frame) {
        long gap = at.pack() == headPack ? at.start(frame) - headOffset : -1;
        if (gap >= 0 && gap <= GAP_BYTES) {
            bytes += gap;
        } else {
            requests++;
        }
        bytes += at.table().fileLength(frame);
        headPack = at.pack();
        headOffset = at.end(frame);
    }

    DiskWork work() {
        return new DiskWork(requests, bytes);
    }
}
