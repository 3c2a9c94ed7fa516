package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.io.Input;

class InputCacheTest {
    private final AtomicInteger open = new AtomicInteger();

    private Input opened() {
        open.incrementAndGet();
        return new Input() {
            @Override
            public void readFully(long offset, ByteBuffer target) {}

            @Override
            public long length() {
                return 0;
            }

            @Override
            public void close() {
                open.decrementAndGet();
            }
        };
    }

    /** The file of a deleted pack would keep its space on the disk. */
    @Test
    void aPackThatIsRemovedWhileItIsOpenedIsClosedByItsUser() throws IOException {
        InputCache[] cache = new InputCache[1];
        cache[0] = new InputCache(10, pack -> {
            Input input = opened();
            if (pack == 1) {
                cache[0].remove(1);
            }
            return input;
        });
        try (InputCache lasting = cache[0]) {
            try (InputCache.Lease lease = lasting.acquire(1)) {
                assertEquals(0, lease.input().length());
                assertEquals(1, open.get());
            }
            assertEquals(0, open.get());
            // The control: another one stays open.
            lasting.acquire(2).close();
            assertEquals(1, open.get());
        }
        assertEquals(0, open.get());
    }
}
