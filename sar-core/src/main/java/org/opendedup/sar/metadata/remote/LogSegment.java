package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;

/**
 * A link of the chain that is the history of a volume's metadata. docs/FORMAT.md specifies its bytes.
 *
 * @param owner who put it
 * @param number one higher than that of the segment before
 * @param previous CRC-32C of the segment before
 * @param first number of the last change before it
 * @param last number of its last change
 */
record LogSegment(UUID volume, Owner owner, long number, int previous, long first, long last, Content content) {
    /** Magic number: the bytes {@code SARL}, read as little-endian. */
    private static final int MAGIC = 0x4c524153;

    static final int VERSION = 1;
    private static final int HEADER_BYTES = 72;
    private static final int VOLUME_OFFSET = 8;
    private static final int CRC_BYTES = Integer.BYTES;
    private static final int OWNER_BYTES = 2 * Long.BYTES;

    private static final byte CHANGES = 1;
    private static final byte END = 2;
    private static final byte LEAP = 3;

    /** What a segment says. */
    sealed interface Content {}

    /** Batches that were committed one after the other; see {@link LoggedBatch}. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Changes(byte[] batches) implements Content {}

    /** The owner's part of the chain ends here for good, and that of another one begins. */
    record End(Owner next) implements Content {}

    /**
     * The state that follows is that of a checkpoint: its owner had changes on its disk that no segment has.
     *
     * @param checkpoint name of its list
     * @param crc CRC-32C of the list
     */
    record Leap(String checkpoint, int crc) implements Content {}

    /** Returns the point of the chain behind this segment, whose bytes have this CRC. */
    ChainPoint point(int crc) {
        return new ChainPoint(content instanceof End end ? end.next() : owner, number, crc, last);
    }

    /** Returns a segment that follows a point. */
    static LogSegment after(ChainPoint point, UUID volume, long last, Content content) {
        return new LogSegment(volume, point.owner(), point.number() + 1, point.crc(), point.sequence(), last, content);
    }

    /** @param authenticates of an encrypted volume; null: it is not encrypted */
    byte[] encode(@Nullable KeyedHash authenticates) {
        byte[] body = body();
        int hashBytes = authenticates == null ? 0 : KeyedHash.BYTES;
        ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + body.length + hashBytes + CRC_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(MAGIC).putShort((short) VERSION).put(kind()).put((byte) 0);
        out.putLong(volume.getMostSignificantBits()).putLong(volume.getLeastSignificantBits());
        put(out, owner).putLong(number).putLong(first).putLong(last).putInt(previous);
        out.putInt(body.length).put(body);
        if (authenticates != null) {
            int covered = out.position();
            authenticates.hash(out.array(), 0, covered, out.array(), covered);
            out.position(covered + hashBytes);
        }
        return out.putInt(crc(out.array(), out.position())).array();
    }

    private byte kind() {
        if (content instanceof Changes) {
            return CHANGES;
        }
        return content instanceof End ? END : LEAP;
    }

    private byte[] body() {
        if (content instanceof Changes changes) {
            return changes.batches();
        }
        if (content instanceof End end) {
            return put(ByteBuffer.allocate(OWNER_BYTES).order(ByteOrder.LITTLE_ENDIAN), end.next())
                    .array();
        }
        Leap leap = (Leap) content;
        byte[] name = leap.checkpoint().getBytes(US_ASCII);
        return ByteBuffer.allocate(Integer.BYTES + name.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(leap.crc())
                .put(name)
                .array();
    }

    private static ByteBuffer put(ByteBuffer out, Owner owner) {
        return out.putLong(owner.lease()).putLong(owner.token());
    }

    private static Owner owner(ByteBuffer in) {
        return new Owner(in.getLong(), in.getLong());
    }

    /** Returns the CRC that a segment's bytes end with. */
    static int crcOf(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - CRC_BYTES);
    }

    private static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    /**
     * Returns the volume of a segment, which need not be authentic: to find out whose key is needed.
     *
     * @param place names the segment in messages
     */
    static UUID volumeOf(byte[] bytes, String place) throws CorruptionException, UnsupportedFormatException {
        ByteBuffer in = checked(bytes, place);
        in.position(VOLUME_OFFSET);
        return new UUID(in.getLong(), in.getLong());
    }

    /** Checks magic, version and checksum, and returns the bytes at the kind. */
    private static ByteBuffer checked(byte[] bytes, String place)
            throws CorruptionException, UnsupportedFormatException {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < HEADER_BYTES + CRC_BYTES || in.getInt() != MAGIC) {
            throw damaged(place, "something else");
        }
        int version = in.getShort();
        if (version != VERSION) {
            throw new UnsupportedFormatException(place, version, VERSION);
        }
        if (crcOf(bytes) != crc(bytes, bytes.length - CRC_BYTES)) {
            throw damaged(place, "one with a wrong checksum");
        }
        return in;
    }

    /** @param place names the segment in messages */
    static LogSegment decode(byte[] bytes, String place, @Nullable KeyedHash authenticates)
            throws CorruptionException, UnsupportedFormatException {
        int hashBytes = authenticates == null ? 0 : KeyedHash.BYTES;
        ByteBuffer in = checked(bytes, place);
        byte kind = in.get();
        in.get();
        UUID volume = new UUID(in.getLong(), in.getLong());
        Owner owner = owner(in);
        long number = in.getLong();
        long first = in.getLong();
        long last = in.getLong();
        int previous = in.getInt();
        int length = in.getInt();
        if (length < 0
                || length != bytes.length - HEADER_BYTES - hashBytes - CRC_BYTES
                || last < first && kind != END) {
            throw damaged(place, "one of " + bytes.length + " bytes with a body of " + length);
        }
        if (authenticates != null && !isAuthentic(bytes, HEADER_BYTES + length, authenticates)) {
            throw damaged(place, "one that no owner of the volume's key has written");
        }
        byte[] body = new byte[length];
        in.get(body);
        return new LogSegment(volume, owner, number, previous, first, last, content(kind, body, place));
    }

    private static boolean isAuthentic(byte[] bytes, int covered, KeyedHash authenticates) {
        byte[] hash = new byte[KeyedHash.BYTES];
        authenticates.hash(bytes, 0, covered, hash, 0);
        return MessageDigest.isEqual(hash, Arrays.copyOfRange(bytes, covered, covered + KeyedHash.BYTES));
    }

    private static Content content(byte kind, byte[] body, String place) throws CorruptionException {
        ByteBuffer in = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
        if (kind == CHANGES) {
            return new Changes(body);
        }
        if (kind == END && body.length == OWNER_BYTES) {
            return new End(owner(in));
        }
        if (kind == LEAP && body.length > Integer.BYTES) {
            int crc = in.getInt();
            String name = new String(body, Integer.BYTES, body.length - Integer.BYTES, US_ASCII);
            if (ObjectNaming.isCheckpoint(name)) {
                return new Leap(name, crc);
            }
        }
        throw damaged(place, "one of kind " + kind + " with a body of " + body.length + " bytes");
    }

    private static CorruptionException damaged(String place, String found) {
        return new CorruptionException(place, -1, "a segment of the metadata's log", found);
    }
}
