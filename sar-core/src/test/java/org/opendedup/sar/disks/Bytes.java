package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;

/** Incompressible bytes from a seed, and reading and writing them in files. */
public final class Bytes {
    private static final int RANGE_BYTES = 4096;

    private Bytes() {}

    public static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Writes a new file and makes it durable. */
    public static void writeAndSync(Path file, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer source = ByteBuffer.wrap(bytes);
            while (source.hasRemaining()) {
                channel.write(source);
            }
            channel.force(true);
        }
    }

    /** Checks that a file has these bytes, and no others. */
    static void check(Directory directory, String name, byte[] expected) throws IOException {
        assertEquals(expected.length, directory.length(name));
        byte[] found = new byte[expected.length];
        try (Input input = directory.open(name)) {
            input.readFully(0, ByteBuffer.wrap(found));
        }
        assertArrayEquals(expected, found);
    }

    /** The results of reading the 4 KiB ranges of a file. */
    public record Comparison(int right, int refused, int wrong) {
        public Comparison plus(Comparison other) {
            return new Comparison(right + other.right, refused + other.refused, wrong + other.wrong);
        }
    }

    /** Reads a file range by range; a range is right, wrong, or refused with an I/O error. */
    public static Comparison compare(Path file, byte[] expected) throws IOException {
        Comparison sum = new Comparison(0, 0, 0);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            for (int offset = 0; offset < expected.length; offset += RANGE_BYTES) {
                int length = Math.min(RANGE_BYTES, expected.length - offset);
                sum = sum.plus(compareRange(channel, offset, Arrays.copyOfRange(expected, offset, offset + length)));
            }
        }
        return sum;
    }

    private static Comparison compareRange(FileChannel channel, long offset, byte[] expected) {
        ByteBuffer target = ByteBuffer.allocate(expected.length);
        try {
            while (target.hasRemaining() && channel.read(target, offset + target.position()) > 0) {
                // A read may return less than requested.
            }
        } catch (IOException e) {
            return new Comparison(0, 1, 0);
        }
        boolean right = !target.hasRemaining() && Arrays.equals(target.array(), expected);
        return right ? new Comparison(1, 0, 0) : new Comparison(0, 0, 1);
    }
}
