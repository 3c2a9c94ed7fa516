package org.opendedup.sar.metadata.counts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

final class ClockTableTest {
    @Test
    void withoutEvictionItIsAMap() {
        Random random = new Random(TestSeed.next());
        ClockTable<Integer> table = new ClockTable<>(1 << 30);
        Map<String, Integer> model = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            long first = random.nextInt(20);
            long second = random.nextInt(20);
            String key = first + "," + second;
            if (random.nextInt(3) == 0) {
                table.remove(first, second);
                model.remove(key);
            } else {
                table.put(first, second, i, 10);
                model.put(key, i);
            }
            long otherFirst = random.nextInt(20);
            long otherSecond = random.nextInt(20);
            assertEquals(model.get(otherFirst + "," + otherSecond), table.get(otherFirst, otherSecond));
        }
    }

    @Test
    void itStaysWithinItsBytesAndNeverAnswersWithAnothersValue() {
        Random random = new Random(TestSeed.next());
        ClockTable<String> table = new ClockTable<>(10_000);
        for (int i = 0; i < 20_000; i++) {
            long key = random.nextInt(1000);
            table.put(key, -key, "value " + key, random.nextInt(300));
            assertTrue(table.bytes() <= 10_000);
            long other = random.nextInt(1000);
            String found = table.get(other, -other);
            assertTrue(found == null || found.equals("value " + other), found);
        }
    }

    @Test
    void whatIsUsedOutlivesWhatIsNot() {
        ClockTable<String> table = new ClockTable<>(10_000);
        table.put(1, 0, "used", 42);
        for (int i = 2; i < 5000; i++) {
            table.put(i, 0, "not used", 42);
            assertEquals("used", table.get(1, 0));
        }
        assertNull(table.get(2, 0));
    }

    @Test
    void aValueLargerThanTheBoundIsNotKept() {
        ClockTable<String> table = new ClockTable<>(100);
        table.put(1, 0, "large", 101);
        assertNull(table.get(1, 0));
        assertEquals(0, table.bytes());
    }
}
