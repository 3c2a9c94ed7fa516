package org.opendedup.sar.volume.stream;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.crypt.Sealer;

/**
 * Writes the messages of one stream, or of a receiver's answers.
 *
 * <pre>
 * stream := preamble message*
 * message := length (4 bytes) payload crc (4)
 * </pre>
 *
 * The checksum is the CRC-32C of the message's number (8 bytes), the length and the payload, so that a message at
 * another place is noticed. In a sealed stream the payload is sealed under the message's number. The payload of the
 * {@link StreamMessage.End} ends with the SHA-256 of all bytes of the stream before its message. Numbers are
 * little-endian. For one thread at a time.
 */
public final class StreamWriter implements Closeable {
    static final int FRAME_BYTES = 2 * Integer.BYTES;
    /** Most bytes of a payload: the chunks of one message, if they do not shrink, and what is said of them. */
    static final int MOST_PAYLOAD_BYTES = MessageFormat.MOST_CHUNK_BYTES + (1 << 20);

    private final OutputStream out;
    private final @Nullable Sealer sealer;
    private final byte[] associated;
    private final MessageDigest digest = Sha256.newDigest();
    private final MessageFormat format = new MessageFormat();
    private long number;
    /** Written by one thread only. */
    private volatile long bytes;

    /**
     * Begins a stream: writes its first bytes.
     *
     * @param target is flushed by {@link #flush}, and not closed by this
     * @param keys null: the stream is not sealed
     */
    public StreamWriter(OutputStream target, @Nullable StreamKeys keys) throws IOException {
        this(target, keys, StreamPreamble.newSalt());
    }

    StreamWriter(OutputStream target, @Nullable StreamKeys keys, byte[] salt) throws IOException {
        out = new BufferedOutputStream(target, 64 << 10);
        StreamPreamble preamble = StreamPreamble.of(keys == null ? new byte[0] : keys.header(), salt);
        sealer = keys == null ? null : preamble.sealer(keys.keys());
        associated = preamble.associated();
        put(preamble.bytes());
    }

    private void put(byte[] source) throws IOException {
        out.write(source);
        digest.update(source);
        bytes = bytes + source.length;
    }

    /** Writes a message. What precedes it may still be in memory: see {@link #flush}. */
    public void write(StreamMessage message) throws IOException {
        byte[] payload = format.encode(message);
        if (message instanceof StreamMessage.End) {
            byte[] hash = digest.digest();
            payload = Arrays.copyOf(payload, payload.length + hash.length);
            System.arraycopy(hash, 0, payload, payload.length - hash.length, hash.length);
        }
        if (sealer != null) {
            int length = payload.length;
            payload = Arrays.copyOf(payload, length + Sealer.TAG_BYTES);
            sealer.seal(number, associated, payload, 0, length);
        }
        if (payload.length > MOST_PAYLOAD_BYTES) {
            throw new IllegalArgumentException("a message of " + payload.length + " bytes");
        }
        ByteBuffer head = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        put(head.putInt(payload.length).array());
        put(payload);
        put(head.putInt(0, crc(number, payload)).array());
        number++;
    }

    /** Returns the checksum of a message. */
    static int crc(long number, byte[] payload) {
        ByteBuffer head = ByteBuffer.allocate(Long.BYTES + Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        CRC32C crc = new CRC32C();
        crc.update(head.putLong(number).putInt(payload.length).array());
        crc.update(payload, 0, payload.length);
        return (int) crc.getValue();
    }

    /** Hands over everything that was written. */
    public void flush() throws IOException {
        out.flush();
    }

    /** Returns the bytes that were written; any thread may ask. */
    public long bytes() {
        return bytes;
    }

    /** Frees what compresses. Does not write anything, and does not close the target. */
    @Override
    public void close() {
        format.close();
    }
}
