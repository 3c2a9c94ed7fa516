package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** The chunks of a file do not depend on the sizes of the writes. */
class WriteSizesTest {
    private static final int MIB = 1 << 20;
    private static final int FILE_BYTES = 12 * MIB + 12_345;

    @MemoryFolder
    Path folder;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private Volume volume;
    private int files;

    @ParameterizedTest
    @EnumSource(Chunking.class)
    void eachSizeOfWritesGivesTheSameChunks(Chunking chunking) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 40, chunking);
        Volume.create(config);
        volume = Volume.open(config);
        try {
            byte[] data = data();
            write(data, () -> MIB);
            long unique = volume.statistics().uniqueBytes();
            assertTrue(unique > FILE_BYTES / 2, "few bytes were stored: this shows nothing");
            for (IntSupplier size : List.<IntSupplier>of(
                    () -> 4096,
                    () -> 128 << 10,
                    () -> 300_001,
                    () -> random.nextInt(1, 2 * MIB),
                    () -> random.nextInt(4) == 0 ? random.nextInt(1, 5000) : MIB)) {
                write(data, size);
                assertEquals(unique, volume.statistics().uniqueBytes());
            }
            // Control: other bytes are stored.
            data[FILE_BYTES / 2] ^= 1;
            write(data, () -> MIB);
            assertTrue(volume.statistics().uniqueBytes() > unique);
            assertEquals(List.of(), VolumeChecker.check(volume));
        } finally {
            volume.close();
        }
    }

    /** Random bytes, with zeros of any length between, also over the ends of buffers. */
    private byte[] data() {
        byte[] data = new byte[FILE_BYTES];
        random.nextBytes(data);
        for (int hole = 0; hole < 12; hole++) {
            int length = random.nextInt(1, hole % 2 == 0 ? 10_000 : MIB / 2);
            int from = hole % 3 == 0
                    ? random.nextInt(1, 12) * MIB - random.nextInt(length)
                    : random.nextInt(FILE_BYTES - length);
            Arrays.fill(data, from, from + length, (byte) 0);
        }
        return data;
    }

    private void write(byte[] data, IntSupplier size) throws IOException {
        byte[] name = ("f" + files++).getBytes(UTF_8);
        long inode =
                volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
        OpenFile file = volume.open(inode, true);
        for (int at = 0; at < data.length; ) {
            int length = Math.min(size.getAsInt(), data.length - at);
            volume.write(file, at, ByteBuffer.wrap(data, at, length));
            at += length;
        }
        volume.sync();
        ByteBuffer read = ByteBuffer.allocate(data.length);
        for (int at = 0; at < data.length; at = read.position()) {
            ByteBuffer part = read.slice(at, Math.min(MIB, data.length - at));
            volume.read(file, at, part);
            read.position(at + part.position());
        }
        assertArrayEquals(data, read.array());
        volume.close(file);
    }
}
