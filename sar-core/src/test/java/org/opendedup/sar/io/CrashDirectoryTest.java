package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
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
}
