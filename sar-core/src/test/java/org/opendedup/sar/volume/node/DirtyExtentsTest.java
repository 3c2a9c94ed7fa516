package org.opendedup.sar.volume.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.volume.write.FileWriter;

/** Compares dirty extents with an array of all possible bytes. */
class DirtyExtentsTest {
    private static final int BYTES = 5000;
    private static final int STEPS = 20_000;
    private static final int MAX_WRITE_BYTES = 700;
    private static final int MAX_RUN_BYTES = 1500;

    private final DirtyBudget budget = new DirtyBudget(1 << 20);
    private final Capacity capacity;
    private final Account account;
    private final DirtyExtents extents;
    /** For each byte its dirty value, or {@link #ABSENT}. */
    private final int[] expected = new int[BYTES];

    /** The bytes that were written since the intent log got all dirty bytes. */
    private final boolean[] unlogged = new boolean[BYTES];

    private static final int ABSENT = -1;

    DirtyExtentsTest() throws IOException {
        Quotas quotas = Quotas.open(new Overlay(new HeapKeyValueStore()));
        capacity = new Capacity(1L << 30, 100, 0, quotas);
        account = quotas.account(0, 0, 0);
        extents = new DirtyExtents(budget, bytes -> capacity.change(account, -bytes));
        Arrays.fill(expected, ABSENT);
    }

    private void write(SplittableRandom random) {
        byte[] data = new byte[random.nextInt(1, MAX_WRITE_BYTES)];
        random.nextBytes(data);
        int at = random.nextInt(BYTES - data.length);
        StoredRanges stored = random.nextBoolean() ? StoredRanges.NONE : StoredRanges.ALL;
        assertTrue(capacity.tryTake(account, extents.wanted(at, data.length, stored), false));
        if (random.nextBoolean()) {
            keepEnds(at, data, random.nextInt(data.length), random.nextInt(data.length));
        }
        extents.write(at, ByteBuffer.wrap(data), stored);
        int first = data.length;
        int last = 0;
        for (int i = 0; i < data.length; i++) {
            if (expected[at + i] != (data[i] & 0xff)) {
                first = Math.min(first, i);
                last = i;
            }
            expected[at + i] = data[i] & 0xff;
        }
        if (first < data.length) {
            Arrays.fill(unlogged, at + first, at + last + 1, true);
        }
    }

    /** Makes bytes at the ends of a write the same as those that are here, as in a page with a change. */
    private void keepEnds(int at, byte[] data, int first, int last) {
        for (int i = 0; i < data.length; i++) {
            if ((i < first || i > last) && expected[at + i] != ABSENT) {
                data[i] = (byte) expected[at + i];
            }
        }
    }

    private void log() {
        extents.unlogged().clear();
        Arrays.fill(unlogged, false);
    }

    private void remove(int from, int to) {
        extents.remove(from, to);
        Arrays.fill(expected, from, to, ABSENT);
        Arrays.fill(unlogged, from, to, false);
    }

    private void zero(int from, int to) {
        extents.zero(from, to);
        for (int at = from; at < to; at++) {
            expected[at] = expected[at] == ABSENT ? ABSENT : 0;
            unlogged[at] = expected[at] == 0 || unlogged[at];
        }
    }

    private void truncate(int size) {
        extents.truncate(size);
        Arrays.fill(expected, size, BYTES, ABSENT);
        Arrays.fill(unlogged, size, BYTES, false);
    }

    /**
     * Stores as {@link FileWriter} does: bytes that were dirty before must be stored or still be dirty when the end is
     * reached, whatever is written meanwhile.
     */
    private void storeAll(SplittableRandom random) {
        int[] before = expected.clone();
        boolean[] stored = new boolean[BYTES];
        long end = extents.end();
        for (long at = 0; at < end; ) {
            DirtyExtents.Run run = extents.takeRun(at, 1, MAX_RUN_BYTES, 0);
            if (run == null) {
                break;
            }
            assertTrue(run.end() > at, () -> "a run that ends at " + run.end());
            int from = (int) run.start();
            byte[] bytes = new byte[(int) run.end() - from];
            run.copy(from, bytes, 0, bytes.length);
            boolean[] unloggedBefore = unlogged.clone();
            for (int i = 0; i < bytes.length; i++) {
                assertEquals(expected[from + i], bytes[i] & 0xff, "byte " + (from + i));
                stored[from + i] = true;
                expected[from + i] = ABSENT;
                unlogged[from + i] = false;
            }
            while (random.nextInt(3) > 0) {
                write(random);
            }
            // The last part is unfinished, and returns below the bytes written meanwhile.
            int most = (int) Math.min(run.end() - at, bytes.length);
            int unfinished = run.end() < end && random.nextBoolean() ? random.nextInt(most) : 0;
            int to = bytes.length - unfinished;
            for (int i = to; i < bytes.length; i++) {
                stored[from + i] = false;
                unlogged[from + i] |= expected[from + i] == ABSENT && unloggedBefore[from + i];
                expected[from + i] = expected[from + i] == ABSENT ? bytes[i] & 0xff : expected[from + i];
            }
            if (unfinished > 0) {
                capacity.change(account, extents.putBack(run, (long) from + to, run.end()));
            }
            capacity.change(account, -run.taken(run.start(), run.end()));
            run.release();
            at = from + to;
        }
        for (int at = 0; at < BYTES; at++) {
            assertTrue(before[at] == ABSENT || stored[at], "byte " + at + " was dirty and not stored");
        }
    }

    private void check() {
        int[] found = new int[BYTES];
        byte[] bytes = new byte[BYTES];
        Arrays.fill(found, ABSENT);
        long count = 0;
        extents.overlay(0, BYTES, ByteBuffer.wrap(bytes));
        for (int at = 0; at < BYTES; at++) {
            if (extents.has(at)) {
                found[at] = bytes[at] & 0xff;
                count++;
            }
        }
        assertArrayEquals(expected, found);
        boolean[] foundUnlogged = new boolean[BYTES];
        for (ByteRanges.Range range : extents.unlogged().ranges()) {
            Arrays.fill(foundUnlogged, (int) range.from(), (int) range.to(), true);
        }
        assertArrayEquals(unlogged, foundUnlogged);
        assertEquals(count, extents.bytes());
        assertEquals(count == 0, extents.isEmpty());
        assertEquals(extents.takenBytes(), capacity.takenBytes());
    }

    private void checkLooks(SplittableRandom random) {
        int from = random.nextInt(BYTES);
        int length = random.nextInt(1, BYTES - from + 1);
        int present = from;
        while (present < BYTES && expected[present] == ABSENT) {
            present++;
        }
        int absent = from;
        while (absent < BYTES && expected[absent] != ABSENT) {
            absent++;
        }
        assertEquals(present == BYTES ? Long.MAX_VALUE : present, extents.nextPresent(from));
        assertEquals(absent, extents.nextAbsent(from));
        assertEquals(present < from + length, extents.intersects(from, length));
        assertEquals(absent >= from + length, extents.covers(from, length));
    }

    @Test
    void randomOpsAreAsByteByByte() {
        SplittableRandom random = new SplittableRandom(TestSeed.next());
        for (int step = 0; step < STEPS; step++) {
            int from = random.nextInt(BYTES);
            int to = random.nextInt(from, BYTES);
            switch (random.nextInt(13)) {
                case 0 -> remove(from, to);
                case 1 -> zero(from, to);
                case 2 -> truncate(from);
                case 3, 4 -> storeAll(random);
                case 5 -> log();
                default -> write(random);
            }
            checkLooks(random);
            if (step % 20 == 0) {
                check();
            }
        }
        extents.truncate(0);
        assertEquals(0, budget.usedBytes());
    }

    /** The extent that has the byte began earlier. */
    @Test
    void aRunIsTakenFromTheMiddleOfAnExtent() {
        extents.write(10, ByteBuffer.wrap(new byte[100]), StoredRanges.NONE);
        DirtyExtents.Run run = extents.takeRun(50, 1, MAX_RUN_BYTES, 0);
        assertNotNull(run);
        assertEquals(10, run.start());
        assertEquals(110, run.end());
    }

    /** Neither bytes that the intent log has nor those that were overwritten since need to be logged again. */
    @Test
    void whatIsPutBackIsInTheLogIfItWas() {
        extents.write(0, ByteBuffer.wrap(new byte[100]), StoredRanges.NONE);
        extents.unlogged().clear();
        extents.write(50, ones(10), StoredRanges.NONE);
        extents.write(10, ones(5), StoredRanges.NONE);
        DirtyExtents.Run run = extents.takeRun(0, 1, MAX_RUN_BYTES, 0);
        assertNotNull(run);
        assertTrue(extents.unlogged().isEmpty());
        extents.write(55, ByteBuffer.wrap(new byte[20]), StoredRanges.NONE);
        extents.putBack(run, 20, run.end());
        assertEquals(List.of(new ByteRanges.Range(50, 75)), extents.unlogged().ranges());
    }

    private static ByteBuffer ones(int count) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) 1);
        return ByteBuffer.wrap(bytes);
    }

    /** As of a file that was just written and of which every second block is punched. */
    @Test
    void whatIsLeftOfAnExtentTakesItsOwnMemoryOnly() {
        int bytes = DirtyBudget.BUFFER_BYTES;
        int block = 4096;
        extents.write(0, ByteBuffer.wrap(new byte[bytes]), StoredRanges.NONE);
        for (int at = 0; at < bytes; at += 2 * block) {
            extents.remove(at, at + block);
            long used = budget.usedBytes();
            assertTrue(used <= 2L * bytes, () -> used + " bytes of memory");
        }
        assertEquals(bytes / 2, extents.bytes());
        assertEquals(bytes / 2, budget.usedBytes());
    }

    /** Bytes that are in the intent log, and of which every second one is written again. */
    @Test
    void thereAreNotMoreRangesToLogThanFitInTheLog() {
        int most = (int) (FileIntents.MAX_BYTES / FileIntents.RECORD_BYTES);
        extents.write(0, ByteBuffer.wrap(new byte[4 * most]), StoredRanges.NONE);
        extents.unlogged().clear();
        for (int at = 0; at < 4 * most; at += 2) {
            extents.write(at, ones(1), StoredRanges.NONE);
            assertTrue(extents.unlogged().count() <= most);
            assertEquals(
                    List.of(new ByteRanges.Range(at, at + 1)),
                    extents.unlogged().within(at, at + 1));
        }
    }
}
