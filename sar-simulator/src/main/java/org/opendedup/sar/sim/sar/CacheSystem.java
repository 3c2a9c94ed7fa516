package org.opendedup.sar.sim.sar;

import java.io.IOException;
import org.opendedup.sar.sim.block.BlockRequest;

/**
 * An SSD as an LRU cache of blocks in front of the array of another system. With a native system it caches by address;
 * with a deduplicating one by content, because there an address has one content. Filled by reads. Writes are sent to
 * the array, and also to the cache if the block is present. For one thread.
 */
final class CacheSystem implements StorageSystem {
    private static final int BLOCK = BlockRequest.BLOCK_BYTES;

    private final StorageSystem inner;
    private final LruBlocks cached;

    CacheSystem(StorageSystem inner, long ssdBytes) {
        this.inner = inner;
        cached = new LruBlocks((int) Math.max(1, Math.min(Integer.MAX_VALUE - 8, ssdBytes / BLOCK)));
    }

    @Override
    public void serve(BlockRequest request, TransferSink sink) throws IOException {
        inner.serve(request, new Cached(sink));
    }

    /** Reads from the SSD the blocks that are present there and that the inner system requests from its array. */
    private final class Cached implements TransferSink {
        private final TransferSink outer;

        Cached(TransferSink outer) {
            this.outer = outer;
        }

        @Override
        public void array(boolean isWrite, long offset, long bytes) {
            if (isWrite) {
                write(offset, bytes);
            } else {
                read(offset, bytes);
            }
        }

        private void write(long offset, long bytes) {
            outer.array(true, offset, bytes);
            long present = 0;
            for (long at = offset; at < offset + bytes; at += BLOCK) {
                present += cached.use(at / BLOCK) == LruBlocks.ABSENT ? 0 : BLOCK;
            }
            if (present > 0) {
                outer.writeSsdLater(present);
            }
        }

        /** Makes one transfer for each run of blocks that are missing, or that are neighbours on the SSD. */
        private void read(long offset, long bytes) {
            long missing = 0;
            for (long at = offset; at < offset + bytes; ) {
                int slot = cached.use(at / BLOCK);
                long end = at + BLOCK;
                while (end < offset + bytes && continues(slot, end, (end - at) / BLOCK)) {
                    end += BLOCK;
                }
                if (slot == LruBlocks.ABSENT) {
                    outer.array(false, at, end - at);
                    missing += end - at;
                    addAll(at, end);
                } else {
                    outer.readSsd(end - at);
                }
                at = end;
            }
            if (missing > 0) {
                outer.writeSsdLater(missing);
            }
        }

        private boolean continues(int slot, long at, long blocks) {
            int next = cached.use(at / BLOCK);
            return slot == LruBlocks.ABSENT ? next == LruBlocks.ABSENT : next == slot + blocks;
        }

        private void addAll(long from, long to) {
            for (long at = from; at < to; at += BLOCK) {
                cached.add(at / BLOCK);
            }
        }

        @Override
        public void readSsd(long bytes) {
            outer.readSsd(bytes);
        }

        @Override
        public void writeSsdLater(long bytes) {
            outer.writeSsdLater(bytes);
        }
    }

    @Override
    public long memoryBytes() {
        return cached.heapBytes() + inner.memoryBytes();
    }

    @Override
    public boolean hasSsd() {
        return true;
    }

    @Override
    public void close() {
        inner.close();
    }
}
