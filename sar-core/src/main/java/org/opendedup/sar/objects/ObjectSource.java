package org.opendedup.sar.objects;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.ArrayInputStream;
import org.opendedup.sar.common.CorruptionException;

/**
 * The bytes of an object that is put. They can be read again for each try.
 *
 * @param length number of bytes
 * @param crc32c CRC-32C of all the bytes (RFC 3720, appendix B.4), stated by whoever made them
 * @param token made at random for this source: the object keeps it, so a put can be told from that of another
 * @param opening opens the bytes
 */
public record ObjectSource(long length, int crc32c, UUID token, Opening opening) {
    /** Opens the bytes. */
    @FunctionalInterface
    public interface Opening {
        /** Returns a stream that has at least all bytes from {@code offset} on; whoever reads it closes it. */
        InputStream open(long offset) throws IOException;
    }

    /** A source with a token of its own. */
    public static ObjectSource of(long length, int crc32c, Opening opening) {
        return new ObjectSource(length, crc32c, UUID.randomUUID(), opening);
    }

    /** The bytes of an array, which must not change any more. */
    public static ObjectSource of(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return of(bytes.length, (int) crc.getValue(), offset -> {
            int from = Math.toIntExact(offset);
            return new java.io.ByteArrayInputStream(bytes, from, bytes.length - from);
        });
    }

    /** Returns a range of the bytes as a source, with the token of the whole. */
    public ObjectSource part(long offset, long partLength, int partCrc32c) {
        return new ObjectSource(partLength, partCrc32c, token, from -> opening.open(offset + from));
    }

    /**
     * Opens all the bytes. The stream compares them: it does not give away the last ones if they are not those that
     * were stated, but throws a {@link CorruptionException}, or an {@link EOFException} if there are too few. So an
     * incomplete object, which no store keeps, is all that a receiver can have of them.
     */
    public InputStream open() throws IOException {
        InputStream bytes = opening.open(0);
        if (length == 0) {
            compare("an object to be put", crc32c, 0);
        }
        return new Compared(bytes);
    }

    /** @throws CorruptionException if the checksums differ */
    public static void compare(String place, int stated, int found) throws CorruptionException {
        if (stated != found) {
            throw new CorruptionException(
                    place, -1, String.format("CRC-32C %08x", stated), String.format("%08x", found));
        }
    }

    private final class Compared extends ArrayInputStream {
        private final InputStream bytes;
        private final CRC32C crc = new CRC32C();
        private long left = length;

        Compared(InputStream bytes) {
            this.bytes = bytes;
        }

        @Override
        public int read(byte[] target, int offset, int count) throws IOException {
            if (left == 0) {
                return -1;
            }
            int read = bytes.read(target, offset, (int) Math.min(count, left));
            if (read < 0) {
                throw new EOFException("an object to be put has " + (length - left) + " bytes, not " + length);
            }
            crc.update(target, offset, read);
            left -= read;
            if (left == 0) {
                compare("an object to be put", crc32c, (int) crc.getValue());
            }
            return read;
        }

        @Override
        public int available() {
            return (int) Math.min(left, Integer.MAX_VALUE);
        }

        @Override
        public void close() throws IOException {
            bytes.close();
        }
    }
}
