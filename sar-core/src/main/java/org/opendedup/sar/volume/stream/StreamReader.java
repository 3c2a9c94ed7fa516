package org.opendedup.sar.volume.stream;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.Sealer;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * Reads what a {@link StreamWriter} wrote, and believes nothing: a message that was changed, left out, repeated or
 * moved is a {@link CorruptionException}, and a stream that ends early is an {@link EOFException}. What a message says
 * is not checked against the messages before it. For one thread at a time.
 */
public final class StreamReader implements Closeable {
    private static final int HASH_BYTES = 32;
    /** Most bytes of a message of a receiver: a greeting with 100 000 snapshots. */
    private static final int MOST_ANSWER_BYTES = 4 << 20;

    private final InputStream in;
    private final String name;
    private final int mostPayloadBytes;
    private final StreamPreamble preamble;
    private final byte[] associated;
    private final MessageDigest digest = Sha256.newDigest();
    private final MessageFormat format = new MessageFormat();
    private @Nullable Sealer sealer;
    private long number;
    private boolean isAtEnd;
    /** Written by one thread only. */
    private volatile long bytes;

    private StreamReader(InputStream in, String name, int mostPayloadBytes, StreamPreamble preamble) {
        this.mostPayloadBytes = mostPayloadBytes;
        this.in = in;
        this.name = name;
        this.preamble = preamble;
        associated = preamble.associated();
        take(preamble.bytes());
    }

    /**
     * Begins to read a stream; null if there are no more bytes. Streams may follow one another.
     *
     * @param in is read no further than to the end of each message, and not closed by this; a buffered one
     * @param name of the stream, for errors: {@code the stream}, or the name of a file
     * @throws UnsupportedFormatException if another version of the program wrote it
     */
    public static @Nullable StreamReader begin(InputStream in, String name) throws IOException {
        return begin(in, name, StreamWriter.MOST_PAYLOAD_BYTES);
    }

    /** As {@link #begin(InputStream, String)}, for a receiver's answers, which are short. */
    public static @Nullable StreamReader beginAnswers(InputStream in, String name) throws IOException {
        return begin(in, name, MOST_ANSWER_BYTES);
    }

    private static @Nullable StreamReader begin(InputStream in, String name, int mostPayloadBytes) throws IOException {
        StreamPreamble preamble = StreamPreamble.read(in, name);
        return preamble == null ? null : new StreamReader(in, name, mostPayloadBytes, preamble);
    }

    private void take(byte[] source) {
        digest.update(source);
        bytes = bytes + source.length;
    }

    /** Returns whether {@link #unseal} is needed before messages can be read. */
    public boolean isSealed() {
        return preamble.isSealed();
    }

    /** Returns the key header of the volume that sent a sealed stream, as it is stored there; else empty. */
    public byte[] keyHeader() {
        return preamble.keyHeader();
    }

    /** Opens a sealed stream with the keys of the volume that sent it. Wrong ones make the first message damaged. */
    public void unseal(VolumeKeys keys) {
        sealer = preamble.sealer(keys);
    }

    /**
     * Reads the next message. A stream is complete with its {@link StreamMessage.End}, whose hash is checked here; its
     * counts are for who has counted.
     */
    public StreamMessage read() throws IOException {
        if (isSealed() && sealer == null) {
            throw UnsupportedFormatException.encrypted(name);
        }
        byte[] head = exactly(Integer.BYTES);
        int length = intAt(head);
        if (length <= 0 || length > mostPayloadBytes) {
            throw corruption("the length of a message", String.valueOf(length));
        }
        byte[] payload = exactly(length);
        byte[] check = exactly(Integer.BYTES);
        if (intAt(check) != StreamWriter.crc(number, payload)) {
            throw corruption("the checksum of the message at this place", "another");
        }
        StreamMessage message = format.decode(checkedEnd(opened(payload)), name, number);
        take(head);
        take(payload);
        take(check);
        number++;
        return message;
    }

    /** Returns whether the last message was read: if it is refused, something before it may be wrong, or missing. */
    public boolean isAtEnd() {
        return isAtEnd;
    }

    private byte[] exactly(int count) throws IOException {
        byte[] read = in.readNBytes(count);
        if (read.length < count) {
            throw new EOFException(name + " is cut off: it ends after " + number + " messages, within the next one");
        }
        return read;
    }

    private byte[] opened(byte[] payload) throws CorruptionException {
        if (sealer == null) {
            return payload;
        }
        int length = payload.length - Sealer.TAG_BYTES;
        byte[] opened = new byte[Math.max(0, length)];
        if (length < 0 || !sealer.open(number, associated, payload, 0, length, opened, 0)) {
            throw corruption("what the volume's key sealed at this place", "something else, or another key");
        }
        return opened;
    }

    /** Checks the hash at the end of the last message, and returns the message without it; others as they are. */
    private byte[] checkedEnd(byte[] payload) throws CorruptionException {
        if (!MessageFormat.isEnd(payload)) {
            return payload;
        }
        isAtEnd = true;
        int length = payload.length - HASH_BYTES;
        if (length < 1 || !Arrays.equals(payload, length, payload.length, digest.digest(), 0, HASH_BYTES)) {
            throw corruption("the hash of the whole stream", "another");
        }
        return Arrays.copyOf(payload, length);
    }

    private CorruptionException corruption(String expected, String found) {
        return new CorruptionException(name + ", message " + number, -1, expected, found);
    }

    private static int intAt(byte[] source) {
        return ByteBuffer.wrap(source).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    /** Returns the bytes that were read; any thread may ask. */
    public long bytes() {
        return bytes;
    }

    /** Frees what decompresses. */
    @Override
    public void close() {
        format.close();
    }
}
