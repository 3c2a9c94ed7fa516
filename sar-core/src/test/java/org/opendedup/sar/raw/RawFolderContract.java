package org.opendedup.sar.raw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.RandomFile;

/** What every folder of backing files must do. */
abstract class RawFolderContract {
    private static final int LENGTH = 300_000;
    private static final int STEPS = 200;

    /** Returns an empty folder. */
    abstract RawFolder empty() throws IOException;

    private static byte[] read(RandomFile file, long offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        int count = file.read(offset, target);
        assertEquals(count, target.position());
        return Arrays.copyOf(target.array(), count);
    }

    @Test
    void aFileExistsFromItsCreationToItsDeletion() throws IOException {
        try (RawFolder folder = empty()) {
            assertNull(folder.status(0x1200));
            assertThrows(NoSuchFileException.class, () -> folder.open(0x1200));
            folder.delete(0x1200);
            for (long number : new long[] {0x1200, 0x1201, 0x7fff_ffff_ffff_ff00L}) {
                folder.create(number).close();
            }
            assertThrows(FileAlreadyExistsException.class, () -> folder.create(0x1200));
            Set<Long> found = new TreeSet<>();
            folder.forEach(found::add);
            assertEquals(Set.of(0x1200L, 0x1201L, 0x7fff_ffff_ffff_ff00L), found);
            assertEquals(0, Objects.requireNonNull(folder.status(0x1200)).size());
            folder.delete(0x1200);
            assertNull(folder.status(0x1200));
            folder.sync();
            assertTrue(folder.usableBytes() > 0);
        }
    }

    @Test
    void theEpochIsTheLastThatWasSet() throws IOException {
        try (RawFolder folder = empty()) {
            assertNull(folder.epoch());
            for (long number : new long[] {1, Long.MAX_VALUE, 2}) {
                Epoch used = new Epoch(UUID.randomUUID(), number, -number);
                folder.setEpoch(used);
                assertEquals(used, folder.epoch());
            }
            folder.forEach(number -> assertEquals(-1, number, "it is no backing file"));
        }
    }

    @Test
    void aDeletedFileStaysAsLongAsItIsOpen() throws IOException {
        try (RawFolder folder = empty();
                RandomFile file = folder.create(7)) {
            file.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3}));
            folder.delete(7);
            try (RandomFile other = folder.create(7)) {
                assertEquals(0, other.status().size());
            }
            assertArrayEquals(new byte[] {1, 2, 3}, read(file, 0, 10));
        }
    }

    /** Random changes, compared with an array. */
    @Test
    void aFileHasTheBytesThatWereWritten() throws IOException {
        Random random = new Random(TestSeed.next());
        byte[] model = {};
        try (RawFolder folder = empty();
                RandomFile file = folder.create(7)) {
            for (int step = 0; step < STEPS; step++) {
                int from = random.nextInt(LENGTH);
                int length = 1 + random.nextInt(20_000);
                boolean keepsSize = random.nextBoolean();
                switch (random.nextInt(4)) {
                    case 0, 1 -> {
                        byte[] bytes = new byte[length];
                        random.nextBytes(bytes);
                        file.write(from, ByteBuffer.wrap(bytes));
                        model = Arrays.copyOf(model, Math.max(model.length, from + length));
                        System.arraycopy(bytes, 0, model, from, length);
                    }
                    case 2 -> {
                        file.zero(from, length, keepsSize);
                        model = keepsSize ? model : Arrays.copyOf(model, Math.max(model.length, from + length));
                        Arrays.fill(
                                model, Math.min(model.length, from), Math.min(model.length, from + length), (byte) 0);
                    }
                    default -> {
                        file.truncate(from);
                        model = Arrays.copyOf(model, from);
                    }
                }
                assertEquals(model.length, file.status().size());
                checkHoles(file, model);
            }
            assertArrayEquals(model, read(file, 0, LENGTH * 2));
            file.force();
        }
    }

    /** Where the file says that there is a hole, the model has zeros. */
    private static void checkHoles(RandomFile file, byte[] model) throws IOException {
        assertThrows(PosixException.class, () -> file.seekData(model.length));
        int at = 0;
        while (at < model.length) {
            int data = model.length;
            try {
                data = (int) file.seekData(at);
            } catch (PosixException e) {
                assertEquals(PosixException.Reason.ENXIO, e.reason());
            }
            for (int i = at; i < Math.min(data, model.length); i++) {
                assertEquals(0, model[i]);
            }
            at = data < model.length ? (int) file.seekHole(data) : data;
        }
    }

    @Test
    void spaceIsAllocatedWithAndWithoutTheLength() throws IOException {
        try (RawFolder folder = empty();
                RandomFile file = folder.create(7)) {
            file.allocate(0, 10_000, true);
            assertEquals(0, file.status().size());
            file.allocate(5_000, 10_000, false);
            assertEquals(15_000, file.status().size());
            assertArrayEquals(new byte[10], read(file, 14_990, 20));
        }
    }

    @Test
    void theTimeOfTheLastChangeCannotBeSet() throws IOException {
        try (RawFolder folder = empty();
                RandomFile file = folder.create(7)) {
            file.write(0, ByteBuffer.wrap(new byte[] {1}));
            RandomFile.Status before = file.status();
            file.setModified(-1_000_000_001L);
            RandomFile.Status after = file.status();
            assertEquals(-1_000_000_001L, after.modifiedNs());
            assertTrue(after.changedNs() >= before.changedNs());
            assertEquals(after, folder.status(7));
        }
    }

    @Test
    void aFileIsAtRestWhileNobodyHasItOpen() throws IOException {
        try (RawFolder folder = empty()) {
            RandomFile file = folder.create(7);
            assertFalse(folder.isAtRest(7));
            RandomFile second = folder.open(7);
            file.close();
            assertFalse(folder.isAtRest(7));
            second.close();
            assertTrue(folder.isAtRest(7));
            assertThrows(NoSuchFileException.class, () -> folder.isAtRest(8));
        }
    }
}
