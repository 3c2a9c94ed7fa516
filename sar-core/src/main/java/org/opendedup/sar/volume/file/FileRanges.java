package org.opendedup.sar.volume.file;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * Allocates and zeroes ranges of files, and searches for data and holes. Zeroing removes the recipe pages of a range in
 * steps. Each step is atomic with its counts and its dirty bytes. Between steps, other threads get the file's lock, and
 * commits continue. After a crash, possibly only the beginning of the range is zeroed.
 */
public final class FileRanges {
    /**
     * Maximum size of a step. A step holds the locks for some milliseconds, because everything that it changes was read
     * into memory before.
     */
    private static final StepLimit STEP = StepLimit.of(1024);
    /**
     * Size of a block, in bytes. Holes begin and end at block boundaries, as on a disk file system: a program that
     * bypasses the kernel's cache (O_DIRECT) requests whole blocks only. A block with at least one byte of data is
     * data.
     */
    private static final int BLOCK_BYTES = 4096;

    private static final long NONE = Long.MAX_VALUE;

    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final Capacity capacity;
    private final SpaceCollector collector;

    public FileRanges(VolumeContext context) {
        metadata = context.metadata();
        nodes = context.nodes();
        writer = context.writer();
        committer = context.committer();
        capacity = context.capacity();
        collector = context.collector();
    }

    /**
     * Extends the file to the end of a range, or only sets its times if the size is to be kept. Reserves nothing.
     * EDQUOT, or ENOSPC, if the range needs more bytes than the quotas admit, or than are free in the capacity and on
     * the devices, also after garbage was collected. This is a minimum estimate: the data of the file is assumed to be
     * in the range.
     *
     * @param mayUseReserve whether the caller may use the part of the capacity that is reserved for root
     */
    void allocate(Node node, long from, long end, boolean keepSize, boolean mayUseReserve, long nowNs)
            throws IOException {
        long there;
        synchronized (node) {
            there = Math.min(node.inUseBytes(), Math.max(0, Math.min(end, node.size) - from));
            capacity.check(node.account(), end - from - there, mayUseReserve);
        }
        collector.check(end - from - there);
        lengthen(node, end, keepSize, nowNs);
    }

    private void lengthen(Node node, long end, boolean keepSize, long nowNs) throws IOException {
        Node.Contents contents = node.contents();
        contents.lockUncut();
        try {
            if (!keepSize && end > node.size()) {
                // No commit may show the new length without the bytes that were written below it.
                writer.storeAll(node);
                grow(node, end, nowNs);
            } else {
                grow(node, 0, nowNs);
            }
        } finally {
            contents.storing.unlock();
        }
    }

    /**
     * Extends the file to at least {@code size} bytes with a hole. Everything that was written to it must be stored.
     */
    void grow(Node node, long size, long nowNs) {
        Lock changes = committer.changes();
        changes.lock();
        try {
            synchronized (node) {
                node.size = Math.max(node.size, size);
                node.storedBytes = Math.max(node.storedBytes, size);
                node.modifiedNs = nowNs;
                node.changedNs = nowNs;
            }
            nodes.markDirty(node);
        } finally {
            changes.unlock();
        }
    }

    /** Sets bytes {@code from} to {@code end} (exclusive) to zero. */
    void zero(Node node, long from, long end, boolean keepSize, long nowNs) throws IOException {
        Node.Contents contents = node.contents();
        long at = from;
        while (at < end) {
            committer.checkWritable();
            try (HeldRecipe held = hold(node, at, end)) {
                contents.lockUncut();
                try {
                    at = zeroStep(node, contents, at, end, held.endByte());
                } finally {
                    contents.storing.unlock();
                }
            }
        }
        lengthen(node, end, keepSize, nowNs);
    }

    /** Reads into memory, and holds there, what one step that begins at {@code from} may change. */
    private HeldRecipe hold(Node node, long from, long end) throws IOException {
        int pageBytes = metadata.recipes().pageBytes();
        return metadata.recipes().hold(node.id, from / pageBytes, (end - 1) / pageBytes + 1, STEP.pages());
    }

    /**
     * Runs one step. Returns the offset up to which the range is done. Recipe pages after {@code heldEnd} are not in
     * memory.
     */
    private long zeroStep(Node node, Node.Contents contents, long from, long end, long heldEnd) throws IOException {
        long to = Math.min(end, node.size());
        if (from >= to) {
            return end;
        }
        Lock changes = committer.changes();
        changes.lock();
        try {
            node.beginChange();
            long done = metadata.ranges().punch(node.id, from, Math.min(to, heldEnd), STEP);
            synchronized (node) {
                // Bytes that were written after the former end since then are in memory only.
                drop(node, contents, from, done == to ? Math.min(end, node.size) : done);
            }
            nodes.markDirty(node);
            return done == to ? end : done;
        } finally {
            node.endChange();
            changes.unlock();
            writer.noteDropped(node);
        }
    }

    /**
     * Drops dirty bytes. Exception: if they are the last dirty bytes of the file, those after the end of the recipe
     * become zero instead. They are stored as zeros, because the size that a commit makes durable follows the stored
     * bytes.
     */
    private static void drop(Node node, Node.Contents contents, long from, long to) {
        boolean areLast = contents.dirty.end() <= to;
        long zeroed = areLast ? Math.max(from, node.storedBytes) : to;
        contents.remove(from, Math.min(to, zeroed));
        contents.dirty.zero(zeroed, to);
        contents.cleanCut = -1;
    }

    /** See {@link Volume#seekData}. */
    long seekData(Node node, long offset) throws IOException {
        checkWithin(offset, node.size());
        long data = nextData(node, blockOf(offset));
        if (data == NONE) {
            throw new PosixException(Reason.ENXIO, "no data from offset " + offset + " on");
        }
        return Math.max(offset, blockOf(data));
    }

    /** See {@link Volume#seekHole}. */
    long seekHole(Node node, long offset) throws IOException {
        long size = node.size();
        checkWithin(offset, size);
        long at = blockOf(offset);
        while (true) {
            long block = blockOf(nextNoData(node, at) + BLOCK_BYTES - 1);
            if (block >= size) {
                return size;
            }
            long data = nextData(node, block);
            if (data >= Math.min(block + BLOCK_BYTES, size)) {
                return Math.max(offset, block);
            }
            at = data;
        }
    }

    private static long blockOf(long offset) {
        return offset - offset % BLOCK_BYTES;
    }

    /**
     * Returns the offset of the first byte at or after {@code offset} that may be data; {@link #NONE} if there is none.
     */
    private long nextData(Node node, long offset) throws IOException {
        long size;
        long newer;
        // Checks what is newer first, so that bytes that move from there to the recipe are seen in one of the two.
        synchronized (node) {
            size = node.size;
            newer = node.nextNewer(offset);
        }
        long end = Math.min(size, newer);
        long data = offset < end ? metadata.ranges().nextData(node.id, offset, end) : end;
        return data < size ? data : NONE;
    }

    /**
     * Returns the offset of the first byte at or after {@code from} that is in a hole. The end of the file counts as a
     * hole.
     */
    private long nextNoData(Node node, long from) throws IOException {
        long at = from;
        while (true) {
            long size;
            long newer;
            synchronized (node) {
                size = node.size;
                at = node.nextNotNewer(at);
                newer = node.nextNewer(at);
            }
            long end = Math.min(size, newer);
            if (at >= end) {
                return size;
            }
            at = metadata.ranges().nextHole(node.id, at, end);
            if (at < end || at == size) {
                return at;
            }
        }
    }

    private static void checkWithin(long offset, long size) throws PosixException {
        if (offset < 0 || offset >= size) {
            throw new PosixException(Reason.ENXIO, "offset " + offset + " of " + size + " bytes");
        }
    }
}
