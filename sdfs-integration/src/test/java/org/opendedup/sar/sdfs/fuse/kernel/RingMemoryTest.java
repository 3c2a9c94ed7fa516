package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class RingMemoryTest {
    private static final int LAST = RingMemory.CELL_BYTES - 1;

    private final Libc libc = new Libc();

    @Test
    void theKernelsMappingShowsTheCellToWhichItWasMoved() throws Exception {
        try (RingMemory memory = new RingMemory(libc, 1)) {
            RingMemory.Cell first = memory.take();
            RingMemory.Cell second = memory.take();
            Mapping ofKernel = memory.mapForKernel(first);
            ByteBuffer seen = ofKernel.buffer();
            ByteBuffer firstView = first.mapping().buffer();
            ByteBuffer secondView = second.mapping().buffer();
            firstView.put(LAST, (byte) 1);
            secondView.put(LAST, (byte) 2);
            assertEquals(1, seen.get(LAST));
            memory.move(ofKernel, second);
            assertEquals(2, seen.get(LAST));
            firstView.put(LAST, (byte) 3);
            assertEquals(2, seen.get(LAST), "who works in the old cell disturbs nobody");
        }
    }

    @Test
    void onlySoManyCellsKeepTheirPagesAsMayMoveData() throws Exception {
        try (RingMemory memory = new RingMemory(libc, 1)) {
            RingMemory.Cell large = memory.take();
            RingMemory.Cell small = memory.take();
            assertTrue(memory.mayStayLarge(large));
            assertFalse(memory.mayStayLarge(small));
            assertTrue(memory.mayStayLarge(large));
            small.used(16 << 10);
            assertFalse(small.isUsedBeyondSmall());
            small.used(100_000);
            assertTrue(small.isUsedBeyondSmall());
            ByteBuffer view = small.mapping().buffer();
            view.put(RingMemory.SMALL_CELL_BYTES - 1, (byte) 1).put(RingMemory.SMALL_CELL_BYTES, (byte) 2);
            assertFalse(small.isIdle(), "used a moment ago");
            memory.shrink(small);
            assertFalse(small.isUsedBeyondSmall());
            assertEquals(1, view.get(RingMemory.SMALL_CELL_BYTES - 1));
            assertEquals(0, view.get(RingMemory.SMALL_CELL_BYTES), "given back");
            memory.shrink(large);
            assertTrue(memory.mayStayLarge(small), "another one is large instead");
        }
    }

    @Test
    void aCellIsUsedAgain() throws Exception {
        try (RingMemory memory = new RingMemory(libc, 1)) {
            RingMemory.Cell cell = memory.take();
            assertNotSame(cell, memory.take());
            memory.giveBack(cell);
            assertSame(cell, memory.take());
        }
    }
}
