package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.volume.config.VolumeIdentity;

/** Space that is reserved for a file is taken from what is free, serves its appends, and returns. */
class ReservedSpaceTest {
    private static final long MIB = 1L << 20;
    private static final long DISK_BYTES = 64 * MIB;

    private static final long RESERVED_BYTES = 24 * MIB;
    /** Bound on what a file system uses for its own records during a check, and on rounding, in bytes. */
    private static final long TOLERANCE = MIB;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"mkfs.ext4, 64", "mkfs.xfs, 400", "mkfs.btrfs, 400"})
    void itReturnsOnDisks(String mkfs, long mib) throws IOException {
        ScratchMount.image(folder, mkfs, mib * MIB, "loop", ReservedSpaceTest::checkReturns);
    }

    @Test
    void itReturnsOnTmpfs() throws IOException {
        ScratchMount.tmpfs(folder, DISK_BYTES, ReservedSpaceTest::checkReturns);
    }

    private static void checkReturns(Path place) throws IOException {
        Directory directory = FileDirectory.open(place);
        byte[] bytes = Bytes.random(1, (int) MIB + 77);
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.wrap(bytes));
            output.force();
            long before = ScratchMount.usable(place);

            assertTrue(output.reserve(RESERVED_BYTES));

            assertTaken(RESERVED_BYTES - MIB, before, place);
            Bytes.check(directory, "file", bytes);
            output.trim();
            assertTaken(0, before, place);
            Bytes.check(directory, "file", bytes);

            assertTrue(output.reserve(RESERVED_BYTES));
            output.close();
            assertTaken(RESERVED_BYTES - MIB, before, place);
            directory.trim("file");
            assertTaken(0, before, place);
            Bytes.check(directory, "file", bytes);
        }
    }

    private static void assertTaken(long expected, long before, Path place) throws IOException {
        long taken = before - ScratchMount.usable(place);
        assertTrue(Math.abs(taken - expected) <= TOLERANCE, () -> taken + " bytes are taken, not " + expected);
    }

    @Test
    void appendsUseIt() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Path place = disk.folder();
            Directory directory = FileDirectory.open(place);
            byte[] bytes = Bytes.random(2, (int) (8 * MIB));
            try (Output output = directory.create("file")) {
                long before = ScratchMount.usable(place);
                assertTrue(output.reserve(RESERVED_BYTES));
                output.append(ByteBuffer.wrap(bytes));
                output.force();
                assertTaken(RESERVED_BYTES, before, place);
                output.trim();
                assertTaken(bytes.length, before, place);
                Bytes.check(directory, "file", bytes);
            }
        }
    }

    /** The control is a file for which nothing is reserved. */
    @Test
    void itServesWhenOthersFilledTheDisk() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Directory directory = FileDirectory.open(disk.folder());
            byte[] bytes = Bytes.random(3, (int) (8 * MIB));
            try (Output output = directory.create("file");
                    Output control = directory.create("control");
                    Output hog = directory.create("hog")) {
                assertTrue(output.reserve(bytes.length));
                fill(hog);
                output.append(ByteBuffer.wrap(bytes));
                output.force();
                assertThrows(NoSpaceException.class, () -> {
                    control.append(ByteBuffer.wrap(bytes));
                    control.force();
                });
            }
            Bytes.check(directory, "file", bytes);
        }
    }

    private static void fill(Output hog) throws IOException {
        for (int bytes = (int) MIB; bytes >= 4096; bytes /= 2) {
            try {
                while (true) {
                    hog.append(ByteBuffer.allocate(bytes));
                    hog.force();
                }
            } catch (NoSpaceException full) {
                // A smaller piece may fit.
            }
        }
    }

    /** Ext4 allocates what is left before it finds that it is too little. */
    @Test
    void aRefusedReservationTakesNothing() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Path place = disk.folder();
            Directory directory = FileDirectory.open(place);
            try (Output output = directory.create("file")) {
                long before = ScratchMount.usable(place);
                assertFalse(output.reserve(before + MIB));
                assertTaken(0, before, place);
                for (long less = 0; less <= 64; less += 8) {
                    // So close to what is free, only the file system knows whether it fits with its own records.
                    boolean reserved = output.reserve(before - less * 4096);
                    assertTaken(reserved ? before - less * 4096 : 0, before, place);
                    output.trim();
                }
                assertTaken(0, before, place);
            }
        }
    }

    /** A range in the file that was given back does not get space again. */
    @Test
    void aHoleInTheFileStaysOne() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Path place = disk.folder();
            Directory directory = FileDirectory.open(place);
            try (Output output = directory.create("file")) {
                output.append(ByteBuffer.wrap(Bytes.random(4, (int) (8 * MIB))));
                output.force();
                long before = ScratchMount.usable(place);
                Commands.succeed("fallocate", "-p", "-o", MIB, "-l", 4 * MIB, place.resolve("file"));
                assertTaken(-4 * MIB, before, place);
                assertTrue(output.reserve(16 * MIB));
                assertTaken(4 * MIB, before, place);
                output.trim();
                assertTaken(-4 * MIB, before, place);
            }
        }
    }

    /** So that a read of it shows whether the disk answers. */
    @Test
    void theIdentityOfALocationHasABlockOfItsOwn() throws IOException {
        ScratchMount.image(folder, "mkfs.btrfs", 400L << 20, "loop", place -> {
            FileDirectory directory = FileDirectory.open(place);
            AtomicFile.write(directory, "plain", ByteBuffer.wrap(new byte[60]));
            VolumeIdentity.write(directory, new Epoch(new UUID(1, 2), 1, 3), VolumeIdentity.FIRST);
            try (Input plain = directory.open("plain");
                    Input identity = directory.open(VolumeIdentity.NAME)) {
                assertTrue(plain.layout(0, 60).place(0) <= 0, "the control");
                assertTrue(identity.layout(0, 60).place(0) > 0);
            }
        });
    }
}
