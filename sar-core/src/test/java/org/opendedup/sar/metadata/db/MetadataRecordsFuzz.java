package org.opendedup.sar.metadata.db;

import static org.opendedup.sar.fuzz.ParserSet.unhex;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.metadata.FormatsTest;
import org.opendedup.sar.metadata.RawRecords;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaRecord;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecordChecksum;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.ValueReader;

/** Every record of the metadata database, and what is read of a record of RocksDB's manifest. */
public final class MetadataRecordsFuzz {
    private static final int PAGE_BYTES = 256 << 10;
    private static final byte[] KEY = Keys.of(7, 3);

    /** Decodes a value, and encodes it. */
    @FunctionalInterface
    private interface Record {
        byte[] again(byte[] value) throws java.io.IOException;
    }

    private static final ParserSet PARSERS = new ParserSet()
            .add(
                    "inode",
                    same(value -> Inode.encode(Inode.decode(42, value))),
                    unhex("0201ffc30201e8076400000300008080d0e2c6bfce972f02d8040103612f62"))
            .add(
                    "recipe page",
                    same(value -> RecipeFormat.encode(KEY, RecipeFormat.decode(KEY, withCrc(value), PAGE_BYTES))),
                    unhex("01ff7f0a000044332211fdff0f88776655fcff018e030effffffffbf3ece040fe80707000000b462ce63"))
            .add(
                    "recipe page with its checksum",
                    value -> RecipeFormat.decode(KEY, value, PAGE_BYTES),
                    unhex("01ff7f0a000044332211fdff0f88776655fcff018e030effffffffbf3ece040fe80707000000b462ce63"))
            .add(
                    "intent",
                    same(value -> IntentRecord.encode(KEY, IntentRecord.decode(KEY, withCrc(value)))),
                    unhex("0100ac020361626313ba1a41"),
                    unhex("0101800103bcae9f3d"))
            .add(
                    "raw file",
                    same(value -> RawRecords.encode(7, RawRecords.decode(7, withCrc(Keys.of(7), value)))),
                    unhex(FormatsTest.GOLDEN_RAW),
                    unhex(FormatsTest.GOLDEN_RAW_FRESH))
            .add(
                    "counts",
                    same(value -> CountRecord.decode(5, value, 1).encode()),
                    unhex("040202010201060500040102ea078040ff3f808008ffff0700000202010203"))
            .add(
                    "container",
                    same(value -> ContainerEntry.encode(ContainerEntry.decode(5, value))),
                    unhex("020103808040b0deff01efcdab896745230101a403a0d492028092f4010209"),
                    unhex("0200" + "00".repeat(17)))
            .add(
                    "header",
                    same(value -> SystemRecords.encodeHeader(SystemRecords.decodeHeader(value))),
                    unhex("0108010000000000000002000000000000008080108080d0e2c6bfce972f"))
            .add(
                    "totals",
                    same(value -> SystemRecords.encodeTotals(SystemRecords.decodeTotals(value))),
                    unhex("018080808080400a808080800880801080808001900306"))
            .add(
                    "quota",
                    same(value -> QuotaRecord.decode(new QuotaId(QuotaId.Kind.USER, 1), value)
                            .encode()),
                    unhex("0180ade204da048080408080808004ac020080f5240080d095ffbc312a"))
            .add("key of a quota", same(value -> QuotaId.ofKey(value).key()), unhex("71756f7461207500000000000003e8"))
            .add(
                    "containers",
                    same(value -> SystemRecords.encodeContainers(SystemRecords.decodeContainers(value))),
                    unhex("01c0843d808080808080018080808001030701ac02"))
            .add(
                    "epoch",
                    same(value -> SystemRecords.encodeEpoch(SystemRecords.decodeEpoch(value))),
                    unhex("01efcdab89674523018102"))
            .add(
                    "number",
                    same(value -> SystemRecords.encodeNumber(SystemRecords.decodeNumber(value))),
                    unhex("018020"))
            .add(
                    "name hash",
                    value -> SystemRecords.decodeNameHash(value).of(7, value),
                    unhex("0101000000000000000200000000000000"))
            .add(
                    "scrub",
                    same(value -> ScrubRecord.decode(value).encode()),
                    unhex("0180a0abfef9620001038020c801808080800409020100"))
            .add(
                    "replica",
                    same(value -> ReplicaRecord.decode(value).encode()),
                    unhex("0101" + "01000000000000000200000000000000" + "0308" + "0101"
                            + "01000000000000000200000000000000" + "0308"
                            + "01000000000000000200000000000000" + "050cac0207"))
            .add(
                    "snapshot",
                    value -> SnapshotRecord.decode(SnapshotRecord.KEYS.of(5), value),
                    unhex("0200000200110002" + "01" + "01000000000000000200000000000000" + "ac0280a0abfef962"
                            + "6d6f6e646179"))
            .add(
                    "sealed record, its key and value of half of the bytes each",
                    MetadataRecordsFuzz::open,
                    unhex("0000000000000002000000000000012cde1bc2669123a508a4c6aff2351388655ee5a7e2"
                            + "5672ea492963b8244b8b4417bd14fb4c41c31e994a780000000000000000000000000000"))
            .add("entry of a folder", value -> Entry.decode(1, value), Entry.encode(7, 0100000 >> 12))
            .add(
                    "record of a manifest",
                    value -> ManifestRecord.lastSequence(ByteBuffer.wrap(value)),
                    unhex("011a6c6576656c64622e4279746577697365436f6d70617261746f72020403050409"));

    private MetadataRecordsFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    /** Opens a record, looks it up, and reads it with a cursor, as one of each family. */
    private static void open(byte[] bytes) throws IOException {
        byte[] key = Arrays.copyOf(bytes, bytes.length / 2);
        byte[] value = Arrays.copyOfRange(bytes, bytes.length / 2, bytes.length);
        HeapKeyValueStore files = new HeapKeyValueStore();
        KeyValueStore store = KeyValueStores.sealed(files, TestKeys.of(1));
        for (KeyValueStore.Family family : KeyValueStore.Family.values()) {
            try (KeyValueStore.Batch batch = files.batch()) {
                batch.put(family, key, value);
                batch.commit();
            }
            KeyValueStore.Stored opened = store.opened(family, new KeyValueStore.Stored(key, value));
            try (KeyValueStore.Cursor cursor = store.scan(family, Keys.FIRST, new byte[] {-1, -1})) {
                while (cursor.next()) {
                    boolean isChanged = cursor.value() == ValueReader.CHANGED;
                    if (isChanged != (opened == null)
                            || opened != null && !Arrays.equals(store.get(family, cursor.key()), opened.value())) {
                        throw new AssertionError("family " + family + ": a cursor reads something else");
                    }
                }
            }
        }
    }

    /** What was decoded, encoded and decoded again must be the same. Some bytes may be written in several ways. */
    private static ParserSet.Parser same(Record record) {
        return value -> {
            byte[] once = record.again(value);
            byte[] twice = record.again(once);
            if (!Arrays.equals(once, twice)) {
                throw new AssertionError("encoded it is other bytes than encoded again");
            }
        };
    }

    private static byte[] withCrc(byte[] value) {
        return withCrc(KEY, value);
    }

    private static byte[] withCrc(byte[] key, byte[] value) {
        byte[] result = value.clone();
        int length = value.length - Integer.BYTES;
        if (length > 0) {
            ParserSet.putInt(result, length, RecordChecksum.of(key, value, length));
        }
        return result;
    }
}
