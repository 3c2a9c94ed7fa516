package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** Damage to a volume by disks and administrators: flipped bits, lost folders. */
class DamageTest {
    private static final int MIB = 1 << 20;
    private static final int FILES = 3;
    private static final int FILE_BYTES = 2 * MIB;
    private static final int FLIPS_A_FILE = 8;

    @TempDir
    Path folder;

    @Test
    void flippedBitsGiveErrorsAndNeverWrongBytes() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("flipped")))) {
            volume.mount();
            writeFiles(volume.mountPoint());
            volume.unmount();
            flipBits(volume.data());
            volume.mount();

            Bytes.Comparison found = compareFiles(volume.mountPoint());

            assertEquals(0, found.wrong(), found::toString);
            assertTrue(found.refused() > 0, () -> "no flip was noticed: " + found);
            assertTrue(found.right() > 0, () -> "nothing was left: " + found);
        }
    }

    @Test
    void theSameFlipsInPlainFilesAreSeenAsWrongBytes() throws IOException {
        // The control: the comparison above would detect wrong bytes.
        Path plain = Files.createDirectory(folder.resolve("plain"));
        writeFiles(plain);
        flipBits(plain);

        assertTrue(compareFiles(plain).wrong() > 0);
    }

    @Test
    void aMissingDataLocationIsRefusedAndNothingIsMadeInItsPlace() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("missing")))) {
            volume.mount();
            Files.writeString(volume.mountPoint().resolve("file"), "kept");
            volume.unmount();
            Path away = Files.move(volume.data(), folder.resolve("away"));

            Commands.Result refused = volume.tryMount(volume.mountPoint());

            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(volume.data().toString()), refused::output);
            assertFalse(Files.exists(volume.data()));
            assertFalse(volume.isMounted());
            Files.move(away, volume.data());
            volume.mount();
            assertEquals("kept", Files.readString(volume.mountPoint().resolve("file")));
        }
    }

    private static void writeFiles(Path target) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Bytes.writeAndSync(target.resolve("file-" + i), Bytes.random(i, FILE_BYTES));
        }
    }

    private static Bytes.Comparison compareFiles(Path target) throws IOException {
        Bytes.Comparison sum = new Bytes.Comparison(0, 0, 0);
        for (int i = 0; i < FILES; i++) {
            sum = sum.plus(Bytes.compare(target.resolve("file-" + i), Bytes.random(i, FILE_BYTES)));
        }
        return sum;
    }

    /** Flips random bits in every file of a minimum size. */
    private static void flipBits(Path directory) throws IOException {
        SplittableRandom random = new SplittableRandom(42);
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.filter(Files::isRegularFile).sorted().toList();
        }
        for (Path file : files) {
            if (Files.size(file) >= MIB) {
                for (int i = 0; i < FLIPS_A_FILE; i++) {
                    flipBit(file, random.nextLong(Files.size(file)), random.nextInt(8));
                }
            }
        }
    }

    private static void flipBit(Path file, long offset, int bit) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, offset);
            one.put(0, (byte) (one.get(0) ^ 1 << bit)).rewind();
            channel.write(one, offset);
        }
    }
}
