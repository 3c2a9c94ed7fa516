package org.opendedup.sar.index.silo;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.stream.Stream;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;

/**
 * The blocks in memory: the open one, which receives segments; the write buffer, with those that were written last; the
 * read cache, with those that were read last. Both are replaced in FIFO order (SiLo, section 3.3). Not thread-safe.
 */
final class ResidentBlocks {
    private final int cachedBlocks;
    private final int writtenBlocks;
    private final long mostBytes;
    private final Deque<Block> cached = new ArrayDeque<>();
    private final Deque<Block> written = new ArrayDeque<>();
    private Block open;
    /** All of them, the youngest first. */
    private Block[] all = new Block[0];

    ResidentBlocks(SiloSettings settings, Block open) {
        cachedBlocks = settings.cachedBlocks();
        writtenBlocks = settings.writtenBlocks();
        mostBytes = settings.residentBytes();
        this.open = open;
        collect();
    }

    Block open() {
        return open;
    }

    boolean has(int number) {
        return Arrays.stream(all).anyMatch(block -> block.number() == number);
    }

    /** Adds a block that was read. */
    void cache(Block block) {
        if (cached.size() == cachedBlocks) {
            cached.removeFirst();
        }
        cached.addLast(block);
        collect();
        while (cached.size() > 1 && bytes() > mostBytes) {
            cached.removeFirst();
            collect();
        }
    }

    /** Keeps the open block, which is going to be written, in the write buffer, and opens another one. */
    void replaceOpen(Block next) {
        written.addLast(open);
        trimWritten(1);
        open = next;
        collect();
    }

    /** Notes that the block which {@link #replaceOpen} took last is written, or given up. */
    void endWrite() {
        trimWritten(0);
        collect();
    }

    /** @param least blocks that stay whatever the size of the write buffer is */
    private void trimWritten(int least) {
        while (written.size() > Math.max(least, writtenBlocks)) {
            written.removeFirst();
        }
    }

    /** Drops a block of the write buffer. */
    void drop(Block block) {
        written.remove(block);
        collect();
    }

    /** Drops the open block. */
    void dropOpen(Block next) {
        open = next;
        collect();
    }

    void clear(Block next) {
        cached.clear();
        written.clear();
        dropOpen(next);
    }

    private void collect() {
        all = Stream.concat(Stream.of(open), Stream.concat(written.stream(), cached.stream()))
                .sorted(Comparator.comparingInt(Block::number).reversed())
                .toArray(Block[]::new);
    }

    /**
     * Sets the hints of chunks {@code from} to {@code to} (exclusive) from the blocks in memory; the youngest block
     * that has a fingerprint decides. The paper asks the block of the similar segment first, and the others if there is
     * none; here all are asked, which finds more.
     */
    void detect(Segment segment, int from, int to) {
        for (int chunk = from; chunk < to; chunk++) {
            if (!segment.isZero(chunk)) {
                segment.setHint(chunk, find(segment.fingerprints(), Segment.fingerprintOffset(chunk)));
            }
        }
    }

    private long find(byte[] fingerprints, int offset) {
        for (Block block : all) {
            int entry = block.find(fingerprints, offset);
            if (entry >= 0) {
                return block.chunkId(entry);
            }
        }
        return ChunkId.NONE;
    }

    /** Returns their memory, in bytes. */
    long bytes() {
        return Arrays.stream(all).mapToLong(Block::bytes).sum();
    }
}
