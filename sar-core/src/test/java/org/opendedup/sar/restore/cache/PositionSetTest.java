package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class PositionSetTest {
    @Test
    void doesWhatATreeSetDoesWhileTheWindowSlidesAndGrows() {
        var random = new Random(TestSeed.next());
        var set = new PositionSet();
        var model = new TreeSet<Long>();
        long tail = 0;
        long head = 0;
        for (int i = 0; i < 20_000; i++) {
            head += random.nextInt(3);
            tail = Math.min(head, Math.max(tail, head - random.nextInt(1 + i / 20)));
            while (!model.isEmpty() && model.first() < tail) {
                set.remove(model.pollFirst());
            }
            set.cover(tail, head);
            if (head > tail) {
                long position = tail + random.nextInt((int) (head - tail));
                if (random.nextInt(3) > 0) {
                    set.add(position);
                    model.add(position);
                } else {
                    set.remove(position);
                    model.remove(position);
                }
            }
            long from = tail - 1 + random.nextInt((int) (head - tail) + 1);
            Long floor = model.floor(from);
            assertEquals(floor == null ? PositionSet.NONE : floor, set.floor(from));
        }
    }
}
