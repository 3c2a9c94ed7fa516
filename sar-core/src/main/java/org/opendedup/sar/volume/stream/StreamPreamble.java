package org.opendedup.sar.volume.stream;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.Sealer;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * What a stream begins with, never sealed: which format it has, and how the rest is opened.
 *
 * <pre>
 * preamble := magic (8 bytes) version (2) length (2) keyHeader [salt (32)] crc (4)
 * </pre>
 *
 * Numbers are little-endian. A stream that is not sealed has length 0 and no salt.
 */
final class StreamPreamble {
    static final int VERSION = 1;
    static final int SALT_BYTES = 32;

    private static final byte[] MAGIC = {'S', 'A', 'R', 'S', 'T', 'R', 'M', 0};
    private static final int FIXED_BYTES = MAGIC.length + 2 * Short.BYTES;
    /** More than any key header has: they have at most 2048 bytes. */
    private static final int MOST_KEY_BYTES = 4096;

    private final byte[] bytes;

    private StreamPreamble(byte[] bytes) {
        this.bytes = bytes;
    }

    /** @param keyHeader empty: the stream is not sealed */
    static StreamPreamble of(byte[] keyHeader, byte[] salt) {
        if (keyHeader.length > MOST_KEY_BYTES) {
            throw new IllegalArgumentException("a key header of " + keyHeader.length + " bytes");
        }
        ByteBuffer buffer = ByteBuffer.allocate(
                        FIXED_BYTES + keyHeader.length + (keyHeader.length > 0 ? SALT_BYTES : 0) + Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(MAGIC).putShort((short) VERSION).putShort((short) keyHeader.length);
        if (keyHeader.length > 0) {
            buffer.put(keyHeader).put(salt, 0, SALT_BYTES);
        }
        buffer.putInt(crc(buffer.array(), buffer.position()));
        return new StreamPreamble(buffer.array());
    }

    static byte[] newSalt() {
        byte[] salt = new byte[SALT_BYTES];
        new SecureRandom().nextBytes(salt);
        return salt;
    }

    private static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    /** Reads a preamble; null if there is nothing to read. */
    static @Nullable StreamPreamble read(InputStream in, String stream) throws IOException {
        byte[] fixed = in.readNBytes(FIXED_BYTES);
        if (fixed.length == 0) {
            return null;
        }
        if (!Arrays.equals(
                fixed, 0, Math.min(fixed.length, MAGIC.length), MAGIC, 0, Math.min(fixed.length, MAGIC.length))) {
            throw new CorruptionException(stream, 0, "the beginning of a stream of a snapshot", "other bytes");
        }
        if (fixed.length < FIXED_BYTES) {
            throw cutOff(stream);
        }
        ByteBuffer fields = ByteBuffer.wrap(fixed).order(ByteOrder.LITTLE_ENDIAN);
        int version = Short.toUnsignedInt(fields.getShort(MAGIC.length));
        int keyBytes = Short.toUnsignedInt(fields.getShort(MAGIC.length + Short.BYTES));
        if (version != VERSION) {
            throw new UnsupportedFormatException(stream, version, VERSION);
        }
        if (keyBytes > MOST_KEY_BYTES) {
            throw new CorruptionException(stream, MAGIC.length, "a key header", keyBytes + " bytes");
        }
        int rest = keyBytes + (keyBytes > 0 ? SALT_BYTES : 0) + Integer.BYTES;
        byte[] all = Arrays.copyOf(fixed, FIXED_BYTES + rest);
        if (in.readNBytes(all, FIXED_BYTES, rest) < rest) {
            throw cutOff(stream);
        }
        int found = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).getInt(all.length - Integer.BYTES);
        if (found != crc(all, all.length - Integer.BYTES)) {
            throw new CorruptionException(
                    stream, all.length - Integer.BYTES, "the checksum of its first bytes", "another");
        }
        return new StreamPreamble(all);
    }

    private static EOFException cutOff(String stream) {
        return new EOFException(stream + " is cut off within its first bytes");
    }

    byte[] bytes() {
        return bytes;
    }

    boolean isSealed() {
        return keyHeader().length > 0;
    }

    /** Returns the key header of the volume; empty if the stream is not sealed. */
    byte[] keyHeader() {
        int length = bytes.length - FIXED_BYTES - Integer.BYTES;
        return Arrays.copyOfRange(bytes, FIXED_BYTES, FIXED_BYTES + Math.max(0, length - SALT_BYTES));
    }

    /** Returns what is sealed with each message: it belongs to this stream. */
    byte[] associated() {
        return Sha256.newDigest().digest(bytes);
    }

    /** Returns what seals and opens the messages. No other stream has the same salt, and so the same key. */
    Sealer sealer(VolumeKeys keys) {
        int from = bytes.length - Integer.BYTES - SALT_BYTES;
        return keys.sealer(Purpose.STREAM, Arrays.copyOfRange(bytes, from, from + SALT_BYTES));
    }
}
