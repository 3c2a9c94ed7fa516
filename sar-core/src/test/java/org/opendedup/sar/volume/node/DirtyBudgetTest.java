package org.opendedup.sar.volume.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The memory of buffers in use and of those that are kept. */
class DirtyBudgetTest {
    private static final int MOST_BUFFERS = 8;
    private static final int LIMIT = MOST_BUFFERS * DirtyBudget.BUFFER_BYTES;
    private static final int SMALL_BYTES = 4096;

    private final DirtyBudget budget = new DirtyBudget(LIMIT);

    private List<byte[]> fill(int bytes) {
        List<byte[]> buffers = new ArrayList<>();
        while (budget.usedBytes() < LIMIT) {
            buffers.add(budget.buffer(bytes));
            assertTrue(budget.usedBytes() + budget.keptBytes() <= LIMIT, () -> budget.keptBytes() + " bytes are kept");
        }
        return buffers;
    }

    @Test
    void buffersInUseAndKeptOnesAreWithinTheLimitTogether() {
        fill(DirtyBudget.BUFFER_BYTES).forEach(budget::release);
        assertEquals(LIMIT, budget.keptBytes());
        fill(SMALL_BYTES).forEach(budget::release);
        assertEquals(0, budget.usedBytes());
    }

    @Test
    void aBufferIsUsedAgain() {
        byte[] buffer = budget.buffer(DirtyBudget.BUFFER_BYTES);
        budget.release(buffer);
        assertSame(buffer, budget.buffer(DirtyBudget.BUFFER_BYTES));
        assertEquals(DirtyBudget.BUFFER_BYTES, budget.usedBytes());
    }
}
