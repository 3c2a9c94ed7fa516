package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.NoSpaceException;

final class CrashDirectoryTest extends DirectoryContract {
    private static final int CRASHES = 200;

    @Override
    Directory newDirectory() {
        return new CrashDirectory(1);
    }

    private static byte[] filled(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    @Test
    void forcedBytesUnderASyncedNameSurviveEveryCrash() throws IOException {
        CrashDirectory directory = new CrashDirectory(2);
        Output output = directory.create("file");
        output.append(ByteBuffer.wrap(filled(3000, 7)));
        output.force();
        directory.sync();
        output.append(ByteBuffer.wrap(filled(3000, 8)));
        Set<Integer> lengths = new HashSet<>();
        boolean reordered = false;
        for (int i = 0; i < CRASHES; i++) {
            byte[] left = directory.crash(i).contents("file");
            assertArrayEquals(filled(3000, 7), Arrays.copyOf(left, 3000));
            lengths.add(left.length);
            reordered |= left.length == 6000 && left[5999] == 8 && left[3100] == 0;
        }
        assertTrue(lengths.contains(3000) && lengths.contains(6000) && lengths.size() > 10, "lost, whole and torn");
        assertTrue(reordered, "later bytes there, earlier ones not");
    }

    @Test
    void unsyncedNamesMayOrMayNotSurvive() throws IOException {
        CrashDirectory directory = new CrashDirectory(3);
        directory.create("old");
        directory.sync();
        directory.rename("old", "new");
        directory.create("other");
        Set<List<String>> outcomes = new HashSet<>();
        for (int i = 0; i < CRASHES; i++) {
            outcomes.add(directory.crash(i).list());
        }
        assertEquals(
                Set.of(List.of("old"), List.of("new"), List.of("old", "other"), List.of("new", "other")), outcomes);
    }

    @Test
    void whenForceDoesNothingForcedBytesAreLost() throws IOException {
        CrashDirectory directory = new CrashDirectory(4, true);
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.wrap(filled(3000, 7)));
            output.force();
        }
        directory.sync();
        boolean lost = false;
        for (int i = 0; i < CRASHES; i++) {
            CrashDirectory left = directory.crash(i);
            lost |= !left.exists("file") || left.contents("file").length < 3000;
        }
        assertTrue(lost);
    }

    @Test
    void failuresComeWhenAskedFor() throws IOException {
        CrashDirectory directory = new CrashDirectory(5);
        Output output = directory.create("file");
        directory.failAppend(2);
        directory.failForce(1);
        output.append(ByteBuffer.wrap(new byte[10]));
        assertThrows(IOException.class, () -> output.append(ByteBuffer.wrap(new byte[10])));
        assertThrows(IOException.class, output::force);
        output.force();
        directory.noSpaceAfter(5);
        assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(new byte[10])));
    }

    private interface State {
        boolean isIn(CrashDirectory left) throws IOException;
    }

    /** Returns the number of crashes that leave such a state. */
    private static int count(CrashDirectory directory, State state) throws IOException {
        int found = 0;
        for (int i = 0; i < CRASHES; i++) {
            found += state.isIn(directory.crash(i)) ? 1 : 0;
        }
        return found;
    }

    private static boolean isFilled(byte[] bytes, int from, int end, int value) {
        return Arrays.equals(Arrays.copyOfRange(bytes, from, end), filled(end - from, value));
    }

    @Test
    void aLongUnforcedPieceMayBeZerosBeforeOneThatIsWhole() throws IOException {
        int piece = 20_000;
        CrashDirectory directory = new CrashDirectory(6);
        Output output = directory.create("file");
        output.append(ByteBuffer.wrap(filled(3000, 7)));
        output.force();
        directory.sync();
        output.append(ByteBuffer.wrap(filled(piece, 8)));
        output.append(ByteBuffer.wrap(filled(piece, 9)));
        int firstEnd = 3000 + piece;
        int end = firstEnd + piece;
        assertTrue(
                count(
                                directory,
                                left -> directory.length("file") == left.length("file")
                                        && isFilled(left.contents("file"), 3000, end - 1000, 0))
                        > 0,
                "the length of both, and only zeros");
        assertTrue(
                count(
                                directory,
                                left -> left.length("file") == end
                                        && isFilled(left.contents("file"), 3000, 3000 + piece / 2, 0)
                                        && isFilled(left.contents("file"), firstEnd + piece / 2, end, 9))
                        > 0,
                "zeros in place of the first, the second whole");
        assertEquals(CRASHES, count(directory, left -> isFilled(left.contents("file"), 0, 3000, 7)));
        output.force();
        assertEquals(
                CRASHES,
                count(
                        directory,
                        left -> isFilled(left.contents("file"), 3000, firstEnd, 8)
                                && isFilled(left.contents("file"), firstEnd, end, 9)),
                "the control: forced bytes stay");
    }

    @Test
    void bytesOfAnAppendThatFoundNoSpaceMayReplaceThoseAppendedLater() throws IOException {
        CrashDirectory directory = new CrashDirectory(7);
        Output output = directory.create("file");
        directory.sync();
        output.append(ByteBuffer.wrap(filled(1000, 7)));
        output.force();
        directory.noSpaceAfter(500);
        assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(filled(2000, 8))));
        output.append(ByteBuffer.wrap(filled(400, 9)));
        State replaced = left -> left.length("file") > 1000 && left.contents("file")[1000] == 8;
        assertTrue(count(directory, replaced) > 0);
        assertTrue(count(directory, left -> left.length("file") == 1400 && left.contents("file")[1399] == 9) > 0);
        assertEquals(CRASHES, count(directory, left -> isFilled(left.contents("file"), 0, 1000, 7)));
        output.force();
        assertEquals(0, count(directory, replaced), "the control: after a force");
    }

    @Test
    void aFailedForceLosesBytesWithoutACrashAndTheNextOneDoesNotBringThemBack() throws IOException {
        CrashDirectory directory = new CrashDirectory(8);
        Output output = directory.create("file");
        directory.sync();
        output.append(ByteBuffer.wrap(filled(3000, 7)));
        output.force();
        output.append(ByteBuffer.wrap(filled(30_000, 8)));
        assertTrue(isFilled(directory.contents("file"), 3000, 33_000, 8), "the control: nothing failed yet");
        directory.failForce(1);
        assertThrows(IOException.class, output::force);
        output.append(ByteBuffer.wrap(filled(3000, 9)));
        output.force();
        byte[] present = directory.contents("file");
        assertTrue(isFilled(present, 0, 3000, 7), "forced before");
        assertTrue(isFilled(present, 33_000, 36_000, 9), "appended afterwards");
        int lost = 0;
        for (int i = 3000; i < 33_000; i++) {
            lost += present[i] == 0 ? 1 : 0;
        }
        assertTrue(lost > 0 && lost < 30_000, lost + " of 30000 bytes are lost");
        assertTrue(count(directory, left -> left.length("file") < 33_000) > 0, "and more are, in a crash");
        assertEquals(CRASHES, count(directory, left -> isFilled(left.contents("file"), 0, 3000, 7)));
    }

    @Test
    void reservedSpaceIsTakenFromWhatIsFreeAndUsedByAppends() throws IOException {
        CrashDirectory directory = new CrashDirectory(9);
        Output output = directory.create("file");
        directory.noSpaceAfter(10_000);
        assertTrue(output.reserve(6000));
        assertTrue(output.reserve(5000), "less than before");
        assertEquals(4000, directory.usableBytes());
        assertEquals(6000, directory.reservedBytes("file"));
        Output other = directory.create("other");
        other.append(ByteBuffer.wrap(new byte[4000]));
        assertThrows(NoSpaceException.class, () -> other.append(ByteBuffer.wrap(new byte[1])));
        output.append(ByteBuffer.wrap(new byte[5500]));
        assertEquals(0, directory.usableBytes());
        assertEquals(500, directory.reservedBytes("file"));
        output.trim();
        assertEquals(500, directory.usableBytes());
        assertEquals(0, directory.reservedBytes("file"));
        assertFalse(output.reserve(6001));
        assertTrue(output.reserve(6000));
        output.close();
        assertEquals(500, directory.reservedBytes("file"), "a close keeps it");
        directory.trim("file");
        assertEquals(500, directory.usableBytes());
    }

    @Test
    void whatFindsNoSpaceGivesReservedSpaceBack() throws IOException {
        CrashDirectory directory = new CrashDirectory(10);
        directory.noSpaceAfter(1000);
        Output output = directory.create("file");
        assertTrue(output.reserve(600));
        assertFalse(output.reserve(1001));
        assertEquals(1000, directory.usableBytes());
        assertTrue(output.reserve(600));
        assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(new byte[1001])));
        assertEquals(1000, directory.usableBytes());
        assertEquals(0, directory.length("file"));
        assertTrue(output.reserve(600));
        directory.delete("file");
        assertEquals(1000, directory.usableBytes());
    }

    @Test
    void aCrashMayKeepOrLoseReservedSpaceAndUndoATrim() throws IOException {
        CrashDirectory directory = new CrashDirectory(11);
        Output output = directory.create("file");
        output.append(ByteBuffer.wrap(new byte[1000]));
        output.reserve(5000);
        output.force();
        directory.sync();
        State reserved = left -> left.reservedBytes("file") == 4000;
        State free = left -> left.reservedBytes("file") == 0;
        assertTrue(count(directory, reserved) > 0);
        assertTrue(count(directory, free) > 0);
        output.trim();
        assertTrue(count(directory, reserved) > 0, "the trim is not durable");
        assertTrue(count(directory, free) > 0);
        output.force();
        assertEquals(CRASHES, count(directory, free), "the control: the trim is durable");
    }

    private static final int BLOCK = 4096;
    private static final int BLOCKS = 8;
    /** Blocks 2 to 5 of 8; the last only in part. */
    private static final FileRange RANGE = new FileRange(2 * BLOCK, 3 * BLOCK + 100);

    /** Makes a file of 8 blocks of the bytes 7, durably. */
    private static Output file(CrashDirectory directory) throws IOException {
        Output output = directory.create("file");
        output.append(ByteBuffer.wrap(filled(BLOCKS * BLOCK, 7)));
        output.force();
        directory.sync();
        return output;
    }

    /** Returns which of the four pieces of the range are zeros, as a bit each; all others must be old bytes. */
    private static int zeros(CrashDirectory left) throws IOException {
        byte[] bytes = left.contents("file");
        assertEquals(BLOCKS * BLOCK, bytes.length);
        int zeros = 0;
        for (int at = 0; at < bytes.length; ) {
            boolean isIn = at >= RANGE.offset() && at < RANGE.end();
            int end = (int)
                    (isIn ? Math.min(RANGE.end(), at + BLOCK) : at < RANGE.offset() ? RANGE.offset() : bytes.length);
            if (isIn && isFilled(bytes, at, end, 0)) {
                zeros |= 1 << (at / BLOCK - 2);
            } else {
                assertTrue(isFilled(bytes, at, end, 7), "bytes from " + at + " to " + end);
            }
            at = end;
        }
        return zeros;
    }

    private static Set<Integer> zerosAfterCrashes(CrashDirectory directory) throws IOException {
        Set<Integer> found = new HashSet<>();
        for (int i = 0; i < 5 * CRASHES; i++) {
            found.add(zeros(directory.crash(i)));
        }
        return found;
    }

    private static final Set<Integer> ANY = Set.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    private static final Set<Integer> ALL = Set.of(15);

    @Test
    void aCrashDuringAReleaseLeavesEachBlockOldOrZeroAndOneAfterItZeros() throws IOException {
        CrashDirectory directory = new CrashDirectory(TestSeed.next());
        file(directory);
        assertEquals(Set.of(0), zerosAfterCrashes(directory), "the control: nothing is released yet");
        Set<Integer> during = new HashSet<>();
        directory.duringReleases(() -> {
            try {
                during.addAll(zerosAfterCrashes(directory));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });

        assertTrue(directory.release("file", List.of(RANGE)));

        assertEquals(ANY, during);
        assertEquals(ALL, zerosAfterCrashes(directory));
        assertEquals(15, zeros(directory));
    }

    @Test
    void whenForceDoesNothingReleasedBytesComeBack() throws IOException {
        CrashDirectory directory = new CrashDirectory(TestSeed.next(), true);
        directory.put("file", filled(BLOCKS * BLOCK, 7));
        assertTrue(directory.release("file", List.of(RANGE)));
        assertEquals(15, zeros(directory));
        assertEquals(ANY, zerosAfterCrashes(directory));
    }

    @Test
    void aFailedReleaseLeavesEachBlockOldOrZeroUntilOneSucceeds() throws IOException {
        Set<Integer> present = new HashSet<>();
        long seed = TestSeed.next();
        for (int i = 0; i < CRASHES; i++) {
            CrashDirectory directory = new CrashDirectory(seed + i * 0x9E3779B97F4A7C15L);
            Output output = file(directory);
            directory.failRelease(1);
            IOException failure = assertThrows(IOException.class, () -> directory.release("file", List.of(RANGE)));
            assertTrue(failure.getMessage().contains("file"), failure.getMessage());
            int zeros = zeros(directory);
            present.add(zeros);
            output.force();
            boolean old = false;
            for (int crash = 0; crash < 20; crash++) {
                int left = zeros(directory.crash(crash));
                assertEquals(0, left & ~zeros, "only what is zeros now");
                old |= left != zeros;
            }
            assertEquals(zeros != 0, old, "zeros that are not durable");
            assertTrue(directory.release("file", List.of(RANGE)));
            assertEquals(15, zeros(directory));
            assertEquals(15, zeros(directory.crash(i)), "the control: it succeeded");
        }
        assertEquals(ANY, present);
    }

    @Test
    void releasedSpaceIsFreeOnceAndNothingIsReleasedWhereThatIsRefused() throws IOException {
        CrashDirectory directory = new CrashDirectory(12);
        directory.noSpaceAfter(BLOCKS * BLOCK);
        Output output = file(directory);
        assertEquals(0, directory.usableBytes());
        assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(new byte[3 * BLOCK])));

        assertTrue(directory.release("file", List.of(RANGE)));
        assertTrue(directory.release("file", List.of(RANGE)));

        assertEquals(3 * BLOCK, directory.usableBytes(), "whole blocks");
        assertEquals((BLOCKS - 3) * BLOCK, directory.allocatedBytes("file"));
        assertEquals(BLOCKS * BLOCK, output.append(ByteBuffer.wrap(new byte[3 * BLOCK])));
        assertEquals(0, directory.usableBytes());
        directory.refuseReleases();
        assertFalse(directory.release("file", List.of(new FileRange(0, BLOCK))));
        assertEquals(7, directory.contents("file")[0]);
        assertEquals(0, directory.usableBytes());
    }

    @Test
    void bytesThatAreStillToBeAppendedAreNotReleased() throws IOException {
        CrashDirectory directory = new CrashDirectory(13);
        Output output = file(directory);
        List<FileRange> beyond = List.of(new FileRange(0, BLOCKS * BLOCK + 1));
        assertThrows(IllegalArgumentException.class, () -> directory.release("file", beyond));
        assertEquals(0, zeros(directory));
        output.close();
        assertTrue(directory.release("file", beyond), "the control: the file is closed");
    }

    /** Bytes of an append that found no space lie where later ones are released. */
    @Test
    void aReleaseAlsoEndsWhatATruncatedAppendLeft() throws IOException {
        CrashDirectory directory = new CrashDirectory(14);
        Output output = directory.create("file");
        directory.sync();
        directory.noSpaceAfter(2 * BLOCK);
        assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(filled(3 * BLOCK, 8))));
        output.append(ByteBuffer.wrap(filled(BLOCK, 7)));
        State restored = left -> left.length("file") > 0 && left.contents("file")[0] == 8;
        assertTrue(count(directory, restored) > 0, "the control: not released yet");
        assertTrue(directory.release("file", List.of(new FileRange(0, BLOCK))));
        assertEquals(0, count(directory, restored));
    }
}
