package org.opendedup.sar.metadata.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.UUID;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/** The records of the SYSTEM family: their keys and formats. Each begins with a version byte. */
public final class SystemRecords {
    static final int VERSION = 1;
    /** Of the key of a name hash that is also of the directory: in encrypted volumes. */
    private static final int VERSION_OF_PLACE = 2;

    public static final byte[] HEADER = Keys.of("header");
    public static final byte[] NAME_HASH = Keys.of("name-hash");
    public static final byte[] NEXT_INODE = Keys.of("next-inode");
    /** The number of the next snapshot; absent before the first one. */
    public static final byte[] NEXT_SNAPSHOT = Keys.of("next-snapshot");

    /** The rollback that is not finished, see {@link RollbackRecord}; absent if there is none. */
    public static final byte[] ROLLBACK = Keys.of("rollback");

    public static final byte[] NEXT_CONTAINER = Keys.of("next-container");
    public static final byte[] TOTALS = Keys.of("totals");
    public static final byte[] CONTAINERS = Keys.of("containers");
    /** The scrub that is running or was stopped; absent before the first one. */
    public static final byte[] SCRUB = Keys.of("scrub");
    /** The last scrub that was completed; absent before. */
    public static final byte[] LAST_SCRUB = Keys.of("last-scrub");

    /** That the volume is a replica; absent in any other volume. */
    public static final byte[] REPLICA = Keys.of("replica");

    /** What is known of all stream logs; absent while there was none. */
    public static final byte[] STREAM_LOGS = Keys.of("stream-logs");

    /** The last epoch in which the fast tier was used; absent while it was in none. */
    public static final byte[] FAST_TIER = Keys.of("fast-tier");

    /** Number of damaged slots without a recorded place; absent while there was never one. */
    public static final byte[] UNRECORDED_DAMAGE = Keys.of("damage-unrecorded");

    private SystemRecords() {}

    public static byte[] encodeHeader(MetadataHeader header) {
        return new ValueWriter(65)
                .writeByte(VERSION)
                .writeVarint(header.formatVersion())
                .writeLongLittleEndian(header.volume().getMostSignificantBits())
                .writeLongLittleEndian(header.volume().getLeastSignificantBits())
                .writeVarint(header.pageBytes())
                .writeZigzag(header.createdNs())
                .writeByte(header.contents().ordinal())
                .toBytes();
    }

    public static MetadataHeader decodeHeader(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = reader(value);
        int formatVersion = (int) in.readVarint(Integer.MAX_VALUE);
        if (formatVersion != MetadataHeader.FORMAT_VERSION) {
            throw new UnsupportedFormatException("metadata database", formatVersion, MetadataHeader.FORMAT_VERSION);
        }
        UUID volume = new UUID(in.readLongLittleEndian(), in.readLongLittleEndian());
        int pageBytes = (int) in.readVarint(Integer.MAX_VALUE);
        if (Integer.bitCount(pageBytes) != 1) {
            throw in.corruption("a page size that is a power of two", Integer.toString(pageBytes));
        }
        long createdNs = in.readZigzag();
        int contents = (int) in.readVarint(MetadataHeader.Contents.values().length - 1);
        in.expectEnd();
        return new MetadataHeader(
                volume, pageBytes, createdNs, formatVersion, MetadataHeader.Contents.values()[contents]);
    }

    /** @param isOfPlace whether the hash is that of {@link NameHash#sipHashOfPlace} */
    public static byte[] encodeNameHash(long key0, long key1, boolean isOfPlace) {
        return new ValueWriter(17)
                .writeByte(isOfPlace ? VERSION_OF_PLACE : VERSION)
                .writeLongLittleEndian(key0)
                .writeLongLittleEndian(key1)
                .toBytes();
    }

    public static NameHash decodeNameHash(byte[] value) throws CorruptionException, UnsupportedFormatException {
        boolean isOfPlace = value.length > 0 && value[0] == VERSION_OF_PLACE;
        ValueReader in = isOfPlace ? reader(value, VERSION_OF_PLACE) : reader(value);
        long key0 = in.readLongLittleEndian();
        long key1 = in.readLongLittleEndian();
        in.expectEnd();
        return isOfPlace ? NameHash.sipHashOfPlace(key0, key1) : NameHash.sipHash(key0, key1);
    }

    public static byte[] encodeNumber(long number) {
        return new ValueWriter(11).writeByte(VERSION).writeVarint(number).toBytes();
    }

    public static long decodeNumber(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = reader(value);
        long number = in.readVarint(Long.MAX_VALUE);
        in.expectEnd();
        return number;
    }

    public static byte[] encodeTotals(Totals totals) {
        StoredCopies stored = totals.stored();
        return new ValueWriter(71)
                .writeByte(VERSION)
                .writeZigzag(totals.logicalBytes())
                .writeZigzag(totals.files())
                .writeZigzag(stored.bytes())
                .writeZigzag(stored.chunks())
                .writeZigzag(stored.garbageBytes())
                .writeZigzag(stored.garbageChunks())
                .writeZigzag(stored.damagedChunks())
                .toBytes();
    }

    public static Totals decodeTotals(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = reader(value);
        Totals totals = new Totals(
                in.readZigzag(),
                in.readZigzag(),
                new StoredCopies(in.readZigzag(), in.readZigzag(), in.readZigzag(), in.readZigzag(), in.readZigzag()));
        in.expectEnd();
        return totals;
    }

    public static byte[] encodeContainers(ContainerSummary summary) {
        ValueWriter out = new ValueWriter(34 + 2 * summary.open().size())
                .writeByte(VERSION)
                .writeVarint(summary.containers())
                .writeVarint(summary.storedBytes())
                .writeVarint(summary.garbageBytes())
                .writeVarint(summary.open().size());
        long before = 0;
        for (long container : summary.open()) {
            out.writeVarint(container - before);
            before = container;
        }
        return out.toBytes();
    }

    public static ContainerSummary decodeContainers(byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = reader(value);
        long containers = in.readVarint(Long.MAX_VALUE);
        long storedBytes = in.readVarint(Long.MAX_VALUE);
        long garbageBytes = in.readVarint(Long.MAX_VALUE);
        NavigableSet<Long> open = new TreeSet<>();
        long container = 0;
        for (long rest = in.readVarint(in.remaining()); rest > 0; rest--) {
            container += in.readVarint(Long.MAX_VALUE - container);
            open.add(container);
        }
        in.expectEnd();
        return new ContainerSummary(containers, storedBytes, garbageBytes, open);
    }

    public static byte[] encodeEpoch(EpochBegin begin) {
        return new ValueWriter(20)
                .writeByte(VERSION)
                .writeLongLittleEndian(begin.token())
                .writeVarint(begin.firstContainer())
                .toBytes();
    }

    public static EpochBegin decodeEpoch(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = reader(value);
        EpochBegin begin = new EpochBegin(in.readLongLittleEndian(), in.readVarint(Long.MAX_VALUE));
        in.expectEnd();
        return begin;
    }

    /** Encodes a data location; its number is in the key. */
    public static byte[] encodeLocation(DataLocation location) {
        byte[] path = location.path().getBytes(UTF_8);
        return new ValueWriter(path.length + 4)
                .writeByte(VERSION)
                .writeByte(location.state().ordinal())
                .writeVarint(path.length)
                .writeBytes(path)
                .toBytes();
    }

    public static DataLocation decodeLocation(long number, byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = reader(value);
        DataLocation.State[] states = DataLocation.State.values();
        int state = in.readByte();
        if (state < 0 || state >= states.length) {
            throw in.corruption("the state of a data location", Integer.toString(state));
        }
        byte[] path = in.readBytes((int) in.readVarint(Integer.MAX_VALUE));
        in.expectEnd();
        return new DataLocation(number, states[state], new String(path, UTF_8));
    }

    private static ValueReader reader(byte[] value) throws CorruptionException, UnsupportedFormatException {
        return reader(value, VERSION);
    }

    private static ValueReader reader(byte[] value, int version)
            throws CorruptionException, UnsupportedFormatException {
        return new ValueReader(value, "system record, format", version).expectVersion(version);
    }
}
