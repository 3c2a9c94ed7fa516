package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * Allocates, zeroes and looks for ranges of files. A range that is zeroed loses its recipe pages in steps, each atomic with
 * its counts and its dirty bytes; between them others get the file's lock, and commits go on. A crash may leave a beginning
 * of the range zeroed.
 */
final class FileRanges {
    /** Recipe pages of one step: some milliseconds under the locks. */
    private static final int STEP_PAGES = 1024;
    /**
     * Holes begin and end with blocks, as on a disk's file system: a program that reads past the kernel's cache (O_DIRECT) asks
     * only for whole ones. A block with a byte of data is data.
     */
    private static final int BLOCK_BYTES = 4096;

    private static final long NONE = Long.MAX_VALUE;

    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final Capacity capacity;

    FileRanges(VolumeParts parts) {
        metadata = parts.metadata();
        nodes = parts.nodes();
        writer = parts.writer();
        committer = parts.committer();
        capacity = parts.capacity();
    }

    /**
     * Makes the file reach the end of a range, or only touches its times if the size is to be kept. Nothing is reserved. ENOSPC if
     * the range needs more bytes than are free of the capacity, at the least: what the file has is taken to lie in it.
     *
     * @param mayUseReserve whether what is kept for root is free to the caller
     */
    void allocate(Node node, long from, long end, boolean keepSize, boolean mayUseReserve, long nowNs)
            throws IOException {
        long there;
        synchronized (node) {
            there = Math.min(node.inUseBytes(), Math.max(0, Math.min(end, node.size) - from));
        }
        capacity.check(end - from - there, mayUseReserve);
        lengthen(node, end, keepSize, nowNs);
    }

    private void lengthen(Node node, long end, boolean keepSize, long nowNs) throws IOException {
        Node.Contents contents = node.contents();
        contents.storing.lock();
        try {
            node.awaitNotCutting();
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

    /** Makes the file at least {@code size} bytes long, by a hole. All that was written to it is stored. */
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

    /** Makes bytes {@code from} to {@code end} zero. */
    void zero(Node node, long from, long end, boolean keepSize, long nowNs) throws IOException {
        Node.Contents contents = node.contents();
        long at = from;
        while (at < end) {
            committer.checkWritable();
            contents.storing.lock();
            try {
                node.awaitNotCutting();
                at = zeroStep(node, contents, at, end);
            } finally {
                contents.storing.unlock();
            }
        }
        lengthen(node, end, keepSize, nowNs);
    }

    /** Returns up to where the range is done. */
    private long zeroStep(Node node, Node.Contents contents, long from, long end) throws IOException {
        long to = Math.min(end, node.size());
        if (from >= to) {
            return end;
        }
        Lock changes = committer.changes();
        changes.lock();
        try {
            long done = metadata.ranges().punch(node.id, from, to, STEP_PAGES);
            synchronized (node) {
                // In this order: a reader that looks in between must not see what lay under the dirty bytes.
                drop(node, contents, from, done);
            }
            nodes.markDirty(node);
            return done == to ? end : done;
        } finally {
            changes.unlock();
            writer.noteDropped(node);
        }
    }

    /**
     * Dirty bytes go, but for the last ones of a file if they lie behind what the recipe describes: those become zero, and are
     * stored as that, since the size that a commit keeps follows what is stored.
     */
    private static void drop(Node node, Node.Contents contents, long from, long to) {
        boolean areLast = contents.dirty.end() <= to;
        long zeroed = areLast ? Math.max(from, node.storedBytes) : to;
        contents.dirty.remove(from, Math.min(to, zeroed));
        contents.dirty.zero(zeroed, to);
        contents.cleanCut = -1;
        contents.completions++;
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

    /** The first byte from {@code offset} on that may be data; {@link #NONE} if there is none. */
    private long nextData(Node node, long offset) throws IOException {
        long size;
        long inMemory;
        // Memory first: bytes on their way from there to the recipe are then seen in one of the two.
        synchronized (node) {
            size = node.size;
            inMemory = node.contents().nextInMemory(offset);
        }
        long end = Math.min(size, inMemory);
        long data = offset < end ? metadata.ranges().nextData(node.id, offset, end) : end;
        return data < size ? data : NONE;
    }

    /** The first byte from {@code from} on that is in a hole; the file's end is one. */
    private long nextNoData(Node node, long from) throws IOException {
        long at = from;
        while (true) {
            long size;
            long inMemory;
            synchronized (node) {
                size = node.size;
                at = node.contents().nextNotInMemory(at);
                inMemory = node.contents().nextInMemory(at);
            }
            long end = Math.min(size, inMemory);
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
