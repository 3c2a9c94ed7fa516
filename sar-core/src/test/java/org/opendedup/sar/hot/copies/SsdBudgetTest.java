package org.opendedup.sar.hot.copies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;

class SsdBudgetTest {
    private static final long MIB = 1 << 20;
    private static final long CAPACITY = 640 * MIB;

    @TempDir
    Path folder;

    private SsdBudget budget;
    /** Bytes of the copies, and what they may have. */
    private long copies;

    private long mostCopies;

    @BeforeEach
    void make() throws IOException {
        budget = new SsdBudget(folder.resolve("index"));
        mostCopies = budget.place(folder.resolve("copies"), CAPACITY);
        budget.opened(() -> copies, most -> mostCopies = most);
    }

    @Test
    void whatTheIndexUsesIsTakenFromTheCopiesAheadAndInSteps() {
        assertEquals(CAPACITY, mostCopies);
        budget.indexGrew(1);
        assertEquals(CAPACITY - 10 * MIB, mostCopies, "4 MiB ahead, in steps of 10");
        budget.indexGrew(5 * MIB);
        assertEquals(CAPACITY - 10 * MIB, mostCopies);
        budget.indexGrew(MIB);
        assertEquals(CAPACITY - 20 * MIB, mostCopies);
        budget.indexGrew(93 * MIB);
        assertEquals(CAPACITY - 110 * MIB, mostCopies);
        budget.indexGrew(-5 * MIB);
        assertEquals(CAPACITY - 110 * MIB, mostCopies, "a little less changes nothing");
        budget.indexGrew(-80 * MIB);
        assertEquals(CAPACITY - 20 * MIB, mostCopies);
    }

    @Test
    void theIndexHasNoMoreThanItsShare() {
        budget.indexGrew(CAPACITY / 2);
        assertEquals(CAPACITY / 2, mostCopies);
        assertEquals(CAPACITY / 2, budget.mostIndexBytes());
        budget.indexGrew(10 * MIB);
        assertEquals(CAPACITY / 2, mostCopies);
        assertEquals(CAPACITY / 2, budget.mostIndexBytes());
    }

    @Test
    void whatTheCopiesHaveNotGivenBackYetIsNotThere() {
        copies = CAPACITY - MIB;
        budget.indexGrew(MIB);
        assertEquals(MIB, budget.mostIndexBytes());
        copies = CAPACITY - 100 * MIB;
        assertEquals(10 * MIB, budget.mostIndexBytes());
    }

    /** Both grow and shrink at random, each as far as it is allowed when it asks. */
    @Test
    void bothTogetherNeverExceedTheBound() {
        assertEquals(0, excess(true), "bytes too much");
    }

    /** The control: if the index does not ask, they do. */
    @Test
    void controlAnIndexThatDoesNotAskExceedsIt() {
        assertTrue(excess(false) > 0);
    }

    private long excess(boolean asks) {
        Random random = new Random(TestSeed.next());
        long index = 0;
        long most = 0;
        for (int i = 0; i < 100_000; i++) {
            long change = random.nextLong(3 * MIB);
            if (random.nextInt(3) == 0) {
                long grown = copies + 8 * change;
                copies = grown <= mostCopies ? grown : copies > mostCopies ? copies - change : copies;
            } else if (random.nextInt(4) == 0) {
                long less = Math.min(index, 2 * change);
                index -= less;
                budget.indexGrew(-less);
            } else if (!asks && index < CAPACITY || index + change <= budget.mostIndexBytes()) {
                index += change;
                budget.indexGrew(change);
            }
            most = Math.max(most, copies + index);
        }
        assertTrue(most > CAPACITY / 2, most + " bytes");
        return Math.max(0, most - CAPACITY);
    }

    @Test
    void onAnotherDeviceNothingIsShared() throws IOException {
        SsdBudget other = new SsdBudget(Path.of("/proc"));
        assertEquals(CAPACITY, other.place(folder.resolve("copies"), CAPACITY));
        other.indexGrew(CAPACITY);
        assertEquals(Long.MAX_VALUE, other.mostIndexBytes());
        assertEquals(CAPACITY, other.bound(CAPACITY));
        assertEquals(0, other.share().capacityBytes());
    }

    @Test
    void copiesThatAreClosedStillTakeTheirPlace() throws IOException {
        copies = CAPACITY - 50 * MIB;
        budget.indexGrew(60 * MIB);
        budget.closed();
        assertEquals(50 * MIB, budget.mostIndexBytes());
        Path files = Files.createDirectories(folder.resolve("copies"));
        Files.write(files.resolve("segment"), new byte[3 << 20]);
        Files.createDirectory(files.resolve("raw"));
        Files.write(files.resolve("raw/file"), new byte[1 << 20]);
        budget.place(files, 70 * MIB);
        assertEquals(35 * MIB, budget.mostIndexBytes());
        budget.place(files, 5 * MIB);
        assertEquals(2 * MIB, budget.mostIndexBytes(), "5 MiB without the 3 that are there");
    }

    @Test
    void anotherBoundIsDividedAnew() {
        budget.indexGrew(15 * MIB);
        assertEquals(100 * MIB - 20 * MIB, budget.bound(100 * MIB), 2.0 * MIB);
    }
}
