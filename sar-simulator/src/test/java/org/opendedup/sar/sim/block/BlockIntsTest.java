package org.opendedup.sar.sim.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class BlockIntsTest {
    @Test
    void doesWhatAHashMapDoes() {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        Map<Long, Integer> model = new HashMap<>();
        BlockInts numbers = new BlockInts();
        for (int step = 0; step < 200_000; step++) {
            long block = ((long) random.nextInt(3) << BlockRequest.DEVICE_BITS) + random.nextInt(30_000);
            if (random.nextBoolean()) {
                numbers.put(block, step);
                model.put(block, step);
            }
            assertEquals(model.getOrDefault(block, BlockInts.ABSENT), numbers.get(block));
            assertEquals(model.getOrDefault(block ^ 1, BlockInts.ABSENT), numbers.get(block ^ 1));
        }
    }

    @Test
    void blocksSideBySideTakeFourBytesAndAShareOfAGroup() {
        BlockInts numbers = new BlockInts();
        int blocks = 1 << 18;
        for (int block = 0; block < blocks; block++) {
            numbers.put(block, block);
        }
        assertTrue(numbers.heapBytes() <= 8L * blocks, numbers.heapBytes() + " bytes");
    }
}
