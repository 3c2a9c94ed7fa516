package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class StagedPackTest {
    private static final int PACKS = 2000;

    private final List<StagedPack> packs = new ArrayList<>();

    StagedPackTest() {
        for (int pack = 0; pack < PACKS; pack++) {
            packs.add(new StagedPack("" + pack));
        }
    }

    @Test
    void whatWasUsedLongestAgoIsFirst() {
        for (int pack = 0; pack < PACKS; pack++) {
            packs.get(pack).usedNs = (pack + 1000) % PACKS;
        }
        assertEquals("1000", StagedPack.byUse(packs).element().name);
    }

    /** A sort that compares what changes meanwhile throws: two thousand packs and a hundred sorts show it. */
    @Test
    void packsAreSortedWhileTheyAreUsed() throws InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            Random random = new Random(1);
            while (!isOver.get()) {
                packs.get(random.nextInt(PACKS)).usedNs = random.nextLong();
            }
        });
        reader.start();
        try {
            for (int sort = 0; sort < 100; sort++) {
                assertEquals(PACKS, StagedPack.byUse(packs).size());
            }
        } finally {
            isOver.set(true);
            reader.join();
        }
    }
}
