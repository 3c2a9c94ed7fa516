package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.Sealer;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;

/**
 * A segment file of the SSD log, open for reading: a header and records (docs/FORMAT.md, "SSD location"). Readers hold
 * leases of it, so that it may be deleted while they read. Safe for use by many threads.
 *
 * <pre>
 * segment = "SARS" version:u16 number:u16 volume:16 salt:u64 epoch:u64 token:u64 zero:u32 crc:u32 record*
 * </pre>
 */
final class SegmentFile {
    static final int HEADER_BYTES = 56;

    private static final int MAGIC = 'S' | 'A' << 8 | 'R' << 16 | 'S' << 24;
    private static final short VERSION = 3;
    /** A file whose records are encrypted. */
    private static final short SEALED_VERSION = 4;

    private static final int CRC_AT = HEADER_BYTES - Integer.BYTES;
    private static final Pattern NAME = Pattern.compile("(\\d{5})\\.segment");

    private final int number;
    private final RecordSeal seal;
    private final Epoch epoch;
    private final Input input;
    private volatile long length;

    /** One lease for the existing file, one for each reader. The return of the last lease closes the input. */
    private final AtomicInteger leases = new AtomicInteger(1);

    private SegmentFile(int number, RecordSeal seal, Epoch epoch, Input input, long length) {
        this.number = number;
        this.seal = seal;
        this.epoch = epoch;
        this.input = input;
        this.length = length;
    }

    static String name(int number) {
        return String.format("%05d.segment", number);
    }

    /** Returns the number in a segment file's name; empty for the names of other files. */
    static OptionalInt numberOf(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return OptionalInt.empty();
        }
        int number = Integer.parseInt(matcher.group(1));
        return number < PackedEntry.SEGMENTS ? OptionalInt.of(number) : OptionalInt.empty();
    }

    /**
     * Returns the header of a segment file that is created in an epoch.
     *
     * @param isSealed whether its records are encrypted
     */
    static ByteBuffer header(int number, Epoch epoch, long salt, boolean isSealed) {
        UUID volume = epoch.volume();
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(MAGIC).putShort(version(isSealed)).putShort((short) number);
        header.putLong(volume.getMostSignificantBits()).putLong(volume.getLeastSignificantBits());
        header.putLong(salt)
                .putLong(epoch.number())
                .putLong(epoch.token())
                .putInt(0)
                .putInt(crc(header.array()));
        return header.flip();
    }

    private static short version(boolean isSealed) {
        return isSealed ? SEALED_VERSION : VERSION;
    }

    private static int crc(byte[] header) {
        CRC32C crc = new CRC32C();
        crc.update(header, 0, CRC_AT);
        return (int) crc.getValue();
    }

    /**
     * Opens a segment file.
     *
     * @param keys what its records are encrypted with; null: they are not. The file's key follows from its header,
     *     whose salt is random
     * @throws CorruptionException if its header is not that of this segment of this volume
     * @throws UnsupportedFormatException if another version of this program wrote it
     */
    static SegmentFile open(Directory directory, int number, UUID volume, @Nullable VolumeKeys keys)
            throws IOException {
        String place = directory + "/" + name(number);
        Input input = directory.open(name(number));
        try {
            long length = input.length();
            if (length < HEADER_BYTES) {
                throw new CorruptionException(place, 0, "a header of " + HEADER_BYTES + " bytes", length + " bytes");
            }
            ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            input.readFully(0, header);
            checkHeader(place, header.flip(), number, volume, keys != null);
            Epoch epoch = new Epoch(volume, header.getLong(32), header.getLong(40));
            Sealer sealer = keys == null ? null : keys.sealer(Purpose.SSD, Arrays.copyOf(header.array(), CRC_AT));
            return new SegmentFile(number, new RecordSeal(header.getLong(24), sealer), epoch, input, length);
        } catch (IOException | RuntimeException e) {
            input.close();
            throw e;
        }
    }

    private static void checkHeader(String place, ByteBuffer header, int number, UUID volume, boolean isSealed)
            throws IOException {
        if (header.getInt(0) != MAGIC || header.getInt(CRC_AT) != crc(header.array())) {
            throw new CorruptionException(place, 0, "the header of a segment file", "something else");
        }
        short version = header.getShort(4);
        if (version == version(!isSealed)) {
            throw new CorruptionException(
                    place, 0, isSealed ? "encrypted copies" : "copies that are not encrypted", "others");
        }
        if (version != version(isSealed)) {
            throw new UnsupportedFormatException(place, version, SEALED_VERSION);
        }
        int foundNumber = header.getShort(6) & 0xffff;
        UUID foundVolume = new UUID(header.getLong(8), header.getLong(16));
        if (foundNumber != number || !foundVolume.equals(volume)) {
            throw new CorruptionException(
                    place,
                    0,
                    "segment " + number + " of volume " + volume,
                    "segment " + foundNumber + " of volume " + foundVolume);
        }
    }

    int number() {
        return number;
    }

    /** Returns what makes records those of this file. */
    RecordSeal seal() {
        return seal;
    }

    /** Returns the epoch in which it was created. */
    Epoch epoch() {
        return epoch;
    }

    /** Returns the bytes of the file that may be read. */
    long length() {
        return length;
    }

    /** Sets the length after the file has grown. */
    void setLength(long bytes) {
        length = bytes;
    }

    /** Adds a lease, which keeps the file readable until {@link #leave}; returns false if the file was deleted. */
    boolean enter() {
        for (int now = leases.get(); now > 0; now = leases.get()) {
            if (leases.compareAndSet(now, now + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Returns a lease; the last one closes the file. */
    void leave() throws IOException {
        if (leases.decrementAndGet() == 0) {
            input.close();
        }
    }

    /** Reads bytes. To be called between {@link #enter} and {@link #leave}. */
    void read(long offset, byte[] target, int bytes) throws IOException {
        input.readFully(offset, ByteBuffer.wrap(target, 0, bytes));
    }
}
