package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ChunkId;

/** In steady state a reference allocates nothing. */
class AllocationTest {
    private static final int CHUNKS = 100;
    private static final int CHUNK_BYTES = 1000;
    private static final int REFERENCES = 20_000;

    private final ContainerContents contents = new ContainerContents() {
        @Override
        public int chunksInContainer() {
            return CHUNKS;
        }

        @Override
        public int count() {
            return CHUNKS;
        }

        @Override
        public int slot(int index) {
            return index;
        }

        @Override
        public int bytes(int index) {
            return CHUNK_BYTES;
        }
    };

    private long told;
    private long used;

    @ParameterizedTest
    @EnumSource
    void aReferenceAllocatesNothing(CachePolicy policy) {
        ContainerCache cache =
                policy.make(CacheParameters.of(10L * CHUNKS * CHUNK_BYTES, CHUNKS * CHUNK_BYTES), ChunkHolder.NONE);
        long window = Math.min(cache.windowBytes() / CHUNK_BYTES, 5000);
        read(cache, window, 5 * REFERENCES);
        long before = allocatedBytes();
        read(cache, window, REFERENCES);
        long allocated = allocatedBytes() - before;
        // Less than a byte per reference: the JVM itself may allocate that meanwhile.
        assertTrue(allocated < REFERENCES, allocated + " bytes for " + REFERENCES + " references");
    }

    private void read(ContainerCache cache, long window, int references) {
        for (int i = 0; i < references; i++) {
            while (told <= used + window) {
                cache.ahead(chunkId(told++), CHUNK_BYTES);
            }
            long current = chunkId(used++);
            if (!cache.contains(current)) {
                cache.read(ChunkId.container(current), contents);
            }
            cache.advance();
        }
    }

    /** Two streams in turn: every fifth reference is to any of forty containers, the others read them in sequence. */
    private static long chunkId(long reference) {
        long place = reference % 5 == 0 ? reference * 7919 : reference;
        return ChunkId.of(1 + place / CHUNKS % 40, (int) (place % CHUNKS));
    }

    private static long allocatedBytes() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
