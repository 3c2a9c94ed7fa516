package org.opendedup.sar.raw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.RandomFile;

/** The double of the fast tier shows every state that it promises, and no other. */
class CrashRawFolderTest extends RawFolderContract {
    private static final int CRASHES = 200;

    @Override
    RawFolder empty() {
        return new CrashRawFolder(1);
    }

    private static byte[] filled(int length, int value) {
        byte[] made = new byte[length];
        Arrays.fill(made, (byte) value);
        return made;
    }

    private static void write(RawFolder folder, long number, byte[] bytes, boolean forces) throws IOException {
        try (RandomFile file = folder.status(number) == null ? folder.create(number) : folder.open(number)) {
            file.write(0, ByteBuffer.wrap(bytes));
            if (forces) {
                file.force();
            }
        }
    }

    private static byte[] read(RawFolder folder, long number) throws IOException {
        try (RandomFile file = folder.open(number)) {
            ByteBuffer all = ByteBuffer.allocate((int) file.status().size());
            file.read(0, all);
            return all.array();
        }
    }

    @Test
    void whatWasForcedSurvives() throws IOException {
        CrashRawFolder folder = new CrashRawFolder(1);
        write(folder, 7, filled(3000, 1), true);
        write(folder, 8, filled(3000, 2), false);
        folder.sync();
        for (int seed = 0; seed < CRASHES; seed++) {
            CrashRawFolder left = folder.crash(seed);
            assertEquals(List.of(7L, 8L), left.numbers());
            assertArrayEquals(filled(3000, 1), read(left, 7));
            assertArrayEquals(filled(3000, 2), read(left, 8));
        }
    }

    @Test
    void whatWasNotForcedIsThereOrNotOrPartly() throws IOException {
        CrashRawFolder folder = new CrashRawFolder(1);
        write(folder, 7, filled(2000, 1), true);
        write(folder, 7, filled(2000, 2), false);
        write(folder, 8, filled(2000, 3), false);
        Set<List<Byte>> overwritten = new HashSet<>();
        Set<Long> lengths = new HashSet<>();
        for (int seed = 0; seed < CRASHES; seed++) {
            CrashRawFolder left = folder.crash(seed);
            byte[] found = read(left, 7);
            assertEquals(2000, found.length);
            overwritten.add(List.of(found[0], found[600], found[1100], found[1600]));
            RandomFile.Status made = left.status(8);
            lengths.add(made == null ? -1 : made.size());
        }
        assertEquals(16, overwritten.size());
        assertTrue(lengths.containsAll(Set.of(-1L, 0L, 2000L)) && lengths.size() > 5, lengths::toString);
    }

    @Test
    void aTruncationAndADeletionMayBeUndone() throws IOException {
        CrashRawFolder folder = new CrashRawFolder(1);
        write(folder, 7, filled(2000, 1), true);
        write(folder, 8, filled(2000, 1), true);
        try (RandomFile file = folder.open(7)) {
            file.truncate(700);
        }
        folder.delete(8);
        Set<Integer> lengths = new HashSet<>();
        Set<Integer> counts = new HashSet<>();
        for (int seed = 0; seed < CRASHES; seed++) {
            CrashRawFolder left = folder.crash(seed);
            byte[] found = read(left, 7);
            assertArrayEquals(filled(found.length, 1), found);
            lengths.add(found.length);
            counts.add(left.numbers().size());
        }
        assertEquals(Set.of(700, 2000), lengths);
        assertEquals(Set.of(1, 2), counts);
    }

    @Test
    void eachChangeHasATimeOfItsOwnAlsoAfterACrash() throws IOException {
        CrashRawFolder folder = new CrashRawFolder(1);
        Set<Long> times = new HashSet<>();
        for (int i = 0; i < 10; i++) {
            write(folder, 7, filled(10, i), false);
            assertTrue(times.add(Objects.requireNonNull(folder.status(7)).changedNs()));
        }
        CrashRawFolder left = folder.crash(1);
        write(left, 7, filled(10, 99), false);
        assertTrue(times.add(Objects.requireNonNull(left.status(7)).changedNs()));
    }

    @Test
    void itFailsOnDemand() throws IOException {
        CrashRawFolder folder = new CrashRawFolder(1);
        write(folder, 7, filled(10, 1), true);
        folder.failAfter(1);
        folder.status(7);
        assertThrows(IOException.class, () -> folder.status(7));
        folder.status(7);
        folder.setFull(true);
        assertThrows(NoSpaceException.class, () -> folder.create(8));
        assertThrows(NoSpaceException.class, () -> write(folder, 7, filled(20, 1), false));
        assertEquals(0, folder.usableBytes());
        folder.setFull(false);
        folder.setGone(true);
        assertThrows(IOException.class, () -> folder.open(7));
    }

    /** What the crash tests' controls rely on. */
    @Test
    void controlAForceThatDoesNothingLosesWhatWasForced() throws IOException {
        CrashRawFolder folder = new CrashRawFolder(1, true);
        write(folder, 7, filled(3000, 1), true);
        folder.sync();
        Set<Integer> found = new HashSet<>();
        for (int seed = 0; seed < CRASHES; seed++) {
            found.add(folder.crash(seed).numbers().size());
        }
        assertNotEquals(Set.of(1), found);
    }
}
