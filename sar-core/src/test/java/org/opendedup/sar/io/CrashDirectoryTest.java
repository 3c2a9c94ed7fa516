package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
}
