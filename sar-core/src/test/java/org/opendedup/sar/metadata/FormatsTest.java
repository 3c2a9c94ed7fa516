package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.EpochBegin;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.MetadataHeader.Contents;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.metadata.record.QuotaRecord;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RecordChecksum;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.Totals;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.ValueWriter;
import org.opendedup.sar.metadata.record.VersionKeys;

/** The bytes of every record of format version 1, as in docs/FORMAT.md. They must never change. */
public final class FormatsTest {
    private static final int PAGE_BYTES = 256 << 10;
    private static final byte[] KEY = Keys.of(7, 3);

    private static final Inode.Times TIMES = new Inode.Times(
            1_700_000_000_000_000_001L,
            1_700_000_000_000_000_000L,
            1_700_000_000_000_000_300L,
            1_699_999_999_999_999_999L);
    private static final Inode INODE =
            Inode.of(42, 0120777, TIMES).withOwner(1000, 100).withProject(9).withTarget(new byte[] {'a', '/', 'b'});

    private static final String GOLDEN_INODE = "0201ffc30201e8076409000300008080d0e2c6bfce972f02d8040103612f62";
    private static final String GOLDEN_RECIPE =
            "01ff7f0a000044332211fdff0f88776655fcff018e030effffffffbf3ece040fe80707000000b462ce63";
    private static final String GOLDEN_COUNTS = "040202010201060500040102ea078040ff3f808008ffff0700000202010203";
    private static final String GOLDEN_HEADER = "010d010000000000000002000000000000008080108080d0e2c6bfce972f00";
    private static final String GOLDEN_HEADER_OF_CHUNKS =
            "010d010000000000000002000000000000008080108080d0e2c6bfce972f01";
    private static final String GOLDEN_TOTALS = "018080808080400a808080800880801080808001900306";
    private static final String GOLDEN_CONTAINERS = "01c0843d808080808080018080808001030701ac02";
    private static final String GOLDEN_ENTRY = "020103808040b0deff01efcdab896745230101a403a0d492028092f4010209";

    private static final String GOLDEN_QUOTA = "0180ade204da048080408080808004ac020080f5240080d095ffbc312a";

    private static final String GOLDEN_INTENT = "0100ac020361626313ba1a41";
    private static final String GOLDEN_DROPPED = "0101800103bcae9f3d";
    public static final String GOLDEN_RAW = "0203850eac028080d0e2c6bfce972f00da5bb4";
    public static final String GOLDEN_RAW_CHANGED = "020883808080d080808040020005a702c0843dd3d860bf";
    public static final String GOLDEN_RAW_FRESH = "0204800e5c7914f5";

    private static final List<String> GOLDEN_WITHOUT_CHECKSUM = List.of(
            GOLDEN_INODE, GOLDEN_COUNTS, GOLDEN_HEADER, GOLDEN_TOTALS, GOLDEN_CONTAINERS, GOLDEN_ENTRY, GOLDEN_QUOTA);

    @Test
    void anInodeIsStoredAsSpecified() throws IOException {
        assertEquals(GOLDEN_INODE, hex(Inode.encode(INODE)));
        Inode decoded = Inode.decode(42, unhex(GOLDEN_INODE));
        assertEquals(hex(Inode.encode(INODE)), hex(Inode.encode(decoded)));
        assertEquals(INODE.times(), decoded.times());
        assertArrayEquals(INODE.target(), decoded.target());
    }

    @Test
    void aRecipePageIsStoredAsSpecified() throws IOException {
        assertEquals(GOLDEN_RECIPE, hex(RecipeFormat.encode(KEY, recipe())));
        assertEquals(
                Recipes.describe(recipe()),
                Recipes.describe(RecipeFormat.decode(KEY, unhex(GOLDEN_RECIPE), PAGE_BYTES)));
    }

    @Test
    void aQuotaIsStoredAsSpecified() throws IOException {
        QuotaId id = new QuotaId(QuotaId.Kind.PROJECT, -2);
        assertEquals("71756f7461207000000000fffffffe", hex(id.key()));
        assertEquals(id, QuotaId.ofKey(id.key()));
        assertEquals("71756f7461207500000000000003e8", hex(new QuotaId(QuotaId.Kind.USER, 1000).key()));
        assertEquals("71756f746120670000000000000000", hex(new QuotaId(QuotaId.Kind.GROUP, 0).key()));
        for (String wrong :
                List.of("71756f7461207800000000000003e8", "71756f7461207500000001000003e8", "71756f74612075")) {
            assertThrows(CorruptionException.class, () -> QuotaId.ofKey(unhex(wrong)));
        }
        QuotaLimits limits = new QuotaLimits(1 << 20, 1 << 30, 300, 0, 604_800);
        QuotaRecord record = new QuotaRecord(5_000_000, 301, limits, 0, 1_700_000_000_000L, 42);
        assertEquals(GOLDEN_QUOTA, hex(record.encode()));
        assertEquals(record, QuotaRecord.decode(id, unhex(GOLDEN_QUOTA)));
        byte[] softAboveHard = new QuotaRecord(0, 0, new QuotaLimits(0, 1, 0, 0, 0), 0, 0, 0).encode();
        softAboveHard[3] = 2;
        assertThrows(CorruptionException.class, () -> QuotaRecord.decode(id, softAboveHard));
    }

    @Test
    void countsAreStoredAsSpecified() throws IOException {
        CountRecord counts = CountRecord.empty(1);
        counts.setLength(0, 4096);
        counts.add(5, 0, 3);
        counts.setLength(2, 65536);
        counts.add(5, 2, 1);
        counts.tombstone(5, 3);
        counts.add(5, 4, 0);
        counts.add(5, 5, 997);
        counts.addContinuation(5, 5, 3);
        counts.addContinuation(5, 2, 1);
        counts.markDamaged(2, 4);
        counts.markDamaged(5, 6);
        assertEquals(GOLDEN_COUNTS, hex(counts.encode()));
        CountRecord decoded = CountRecord.decode(5, unhex(GOLDEN_COUNTS), 2);
        assertEquals(GOLDEN_COUNTS, hex(decoded.encode()));
        assertEquals(1000, decoded.count(5));
        assertEquals(65536, decoded.length(2));
        assertEquals(3, decoded.continuations(5));
        assertEquals(997, decoded.occurrences(5));
        assertEquals(2, decoded.count(2));
        assertEquals(0, decoded.continuations(0) + decoded.continuations(4));
        assertTrue(!decoded.isDamaged(1) && decoded.isDamaged(2) && !decoded.isDamaged(4) && decoded.isDamaged(5));
        assertFalse(decoded.isDamaged(3), "a tombstone has no copy");
        assertTrue(decoded.isTombstone(3) && decoded.isAlive(4) && !decoded.isAlive(1));
    }

    @Test
    void dataLocations() throws IOException {
        DataLocation location = new DataLocation(5, DataLocation.State.USED, "/disk2/\u00e4");
        assertEquals("0100092f6469736b322fc3a4", hex(SystemRecords.encodeLocation(location)));
        assertEquals(location, SystemRecords.decodeLocation(5, unhex("0100092f6469736b322fc3a4")));
        assertThrows(CorruptionException.class, () -> SystemRecords.decodeLocation(5, unhex("0107012f")));
        assertThrows(CorruptionException.class, () -> SystemRecords.decodeLocation(5, unhex("0100022f")));
        assertThrows(UnsupportedFormatException.class, () -> SystemRecords.decodeLocation(5, unhex("0200012f")));
    }

    @Test
    void systemRecordsAreStoredAsSpecified() throws IOException {
        MetadataHeader header = new MetadataHeader(new UUID(1, 2), PAGE_BYTES, 1_700_000_000_000_000_000L, 13);
        assertEquals(GOLDEN_HEADER, hex(SystemRecords.encodeHeader(header)));
        assertEquals(header, SystemRecords.decodeHeader(unhex(GOLDEN_HEADER)));
        MetadataHeader ofChunks =
                new MetadataHeader(new UUID(1, 2), PAGE_BYTES, 1_700_000_000_000_000_000L, 13, Contents.CHUNKS);
        assertEquals(GOLDEN_HEADER_OF_CHUNKS, hex(SystemRecords.encodeHeader(ofChunks)));
        assertEquals(ofChunks, SystemRecords.decodeHeader(unhex(GOLDEN_HEADER_OF_CHUNKS)));
        Totals totals = new Totals(1L << 40, 5, new StoredCopies(1 << 30, 1 << 17, 1 << 20, 200, 3));
        assertEquals(GOLDEN_TOTALS, hex(SystemRecords.encodeTotals(totals)));
        assertEquals(totals, SystemRecords.decodeTotals(unhex(GOLDEN_TOTALS)));
        ContainerSummary containers =
                new ContainerSummary(1_000_000, 4L << 40, 1 << 28, new TreeSet<>(Set.of(7L, 8L, 308L)));
        assertEquals(GOLDEN_CONTAINERS, hex(SystemRecords.encodeContainers(containers)));
        assertEquals(containers, SystemRecords.decodeContainers(unhex(GOLDEN_CONTAINERS)));
        EpochBegin begin = new EpochBegin(0x0123456789abcdefL, 257);
        assertEquals("01efcdab89674523018102", hex(SystemRecords.encodeEpoch(begin)));
        assertEquals(begin, SystemRecords.decodeEpoch(unhex("01efcdab89674523018102")));
        assertEquals("018020", hex(SystemRecords.encodeNumber(4096)));
        assertEquals("0101000000000000000200000000000000", hex(SystemRecords.encodeNameHash(1, 2, false)));
        String ofPlace = "0201000000000000000200000000000000";
        assertEquals(ofPlace, hex(SystemRecords.encodeNameHash(1, 2, true)));
        byte[] name = {'a'};
        assertEquals(
                NameHash.sipHashOfPlace(1, 2).of(7, name),
                SystemRecords.decodeNameHash(unhex(ofPlace)).of(7, name));
        ScrubTotals.Ssd ssd = new ScrubTotals.Ssd(5, 1024, 1, 2, true);
        ScrubTotals.Index index = new ScrubTotals.Index(7, 1, 2, 6, 3, false);
        ScrubRecord stopped = new ScrubRecord(
                1_700_000_000_000L,
                0,
                true,
                new ScrubCursor(ScrubPhase.SSD, 3, 4096),
                new ScrubTotals(200, 1 << 30, 9, 2, 1, 0, new ScrubTotals.References(3, 4, true), ssd, index));
        String stored = "0280a0abfef962000102038020c801808080800409020100" + "030401" + "058008010201" + "070102060300";
        assertEquals(stored, hex(stopped.encode()));
        assertEquals(stopped, ScrubRecord.decode(unhex(stored)));
        String unknownPhase = stored.replaceFirst("000102038020", "000109038020");
        assertThrows(CorruptionException.class, () -> ScrubRecord.decode(unhex(unknownPhase)));
    }

    @Test
    void damageIsStoredAsSpecified() throws IOException {
        DamagedPlace place =
                new DamagedPlace(5, 16, 48, new DamageNote(2, DamageNote.How.SCRUB, 1_700_000_000_000L, "bad crc"));
        assertEquals("0130030280a0abfef96207626164206372" + "63", hex(place.encode()));
        assertEquals(place, DamagedPlace.decode(5, 16, place.encode()));
        DamagedPlace healed = new DamagedPlace(5, 1, 2, new DamageNote(-1, DamageNote.How.HEAL, 0, "x"));
        assertEquals("01020005000178", hex(healed.encode()));
        String tooLong = "é".repeat(300);
        DamagedPlace cut = new DamagedPlace(5, 0, 1, new DamageNote(-1, DamageNote.How.READ, 0, tooLong));
        assertEquals(
                "é".repeat(200), DamagedPlace.decode(5, 0, cut.encode()).note().reason());
    }

    @Test
    void entriesOfContainersAreStoredAsSpecified() throws IOException {
        Writing writing = new Writing(0x0123456789abcdefL, 1);
        ContainerEntry sealed = new ContainerEntry(
                5, new StoredContainer(writing, State.SEALED, 3, 1 << 20, 4_190_000, 420, 4_500_000, 9), 4_000_000, 2);
        assertEquals(GOLDEN_ENTRY, hex(ContainerEntry.encode(sealed)));
        assertEquals(sealed, ContainerEntry.decode(5, unhex(GOLDEN_ENTRY)));
        ContainerEntry open =
                new ContainerEntry(6, new StoredContainer(Writing.UNKNOWN, State.OPEN, 0, 0, 0, 0, 0), 0, 0);
        assertEquals("0200" + "00".repeat(17), hex(ContainerEntry.encode(open)));
        assertEquals(open, ContainerEntry.decode(6, ContainerEntry.encode(open)));
    }

    @Test
    void intentsAreStoredAsSpecified() throws IOException {
        IntentRecord written = new IntentRecord(3, 300, 3, new byte[] {'a', 'b', 'c'});
        assertEquals(GOLDEN_INTENT, hex(IntentRecord.encode(KEY, written)));
        IntentRecord decoded = IntentRecord.decode(KEY, unhex(GOLDEN_INTENT));
        assertEquals(List.of(3L, 300L, 3L), List.of(decoded.number(), decoded.offset(), decoded.length()));
        assertArrayEquals(written.bytes(), decoded.bytes());
        IntentRecord dropped = new IntentRecord(3, 128, 3, null);
        assertEquals(GOLDEN_DROPPED, hex(IntentRecord.encode(KEY, dropped)));
        assertEquals(dropped, IntentRecord.decode(KEY, unhex(GOLDEN_DROPPED)));
    }

    @Test
    void recordsOfRawFilesAreStoredAsSpecified() throws IOException {
        RawRecord copied =
                RawRecord.whole(0x705, true, false).withCopy(new RawRecord.Copy(300, 1_700_000_000_000_000_000L));
        assertEquals(GOLDEN_RAW, hex(RawRecords.encode(7, copied)));
        assertEquals(copied, RawRecords.decode(7, unhex(GOLDEN_RAW)));
        RawRecord fresh = RawRecord.whole(0x700, false, true);
        assertEquals(GOLDEN_RAW_FRESH, hex(RawRecords.encode(7, fresh)));
        assertEquals(fresh, RawRecords.decode(7, unhex(GOLDEN_RAW_FRESH)));
        RawRecord changed = RawRecord.ofChanged(
                0x4000000500000003L, List.of(new ByteRanges.Range(0, 5), new ByteRanges.Range(300, 1_000_300)));
        assertEquals(GOLDEN_RAW_CHANGED, hex(RawRecords.encode(7, changed)));
        assertEquals(changed, RawRecords.decode(7, unhex(GOLDEN_RAW_CHANGED)));
    }

    /**
     * What no program writes, under a checksum that holds: a list that is empty, or ranges that are, touch or overflow.
     */
    @Test
    void rangesOfChangedBytesThatCannotBeAreRefused() throws IOException {
        long part = 0x780;
        long max = Long.MAX_VALUE;
        assertEquals(
                List.of(new ByteRanges.Range(0, 1), new ByteRanges.Range(2, max)),
                RawRecords.decode(7, changedRecord(part, 2, 0, 1, 1, max - 2)).changed(),
                "the control");
        for (long[] numbers : new long[][] {
            {0},
            {1},
            {1, 5},
            {1, 5, 0},
            {2, 0, 5, 0, 5},
            {2, 0, 5, 7, 0},
            {2, 0, 5, 7},
            {1, 1, max},
            {2, 0, max, 1, 1},
            {1, 0, 5, 1},
            {1L << 31, 0, 5},
            {1L << 32 | 1, 0, 5},
            {max, 0, 5},
            {-1, 0, 5},
            {1, -1, 5},
            {1, 0, -1},
        }) {
            byte[] record = changedRecord(part, numbers);
            assertThrows(CorruptionException.class, () -> RawRecords.decode(7, record), () -> Arrays.toString(numbers));
        }
    }

    /** A record with flag 8, a number, and these numbers where the ranges are. */
    private static byte[] changedRecord(long number, long... ranges) {
        ValueWriter out = new ValueWriter(32).writeByte(2).writeByte(8).writeVarint(number);
        for (long each : ranges) {
            out.writeVarint(each);
        }
        return out.writeIntLittleEndian(RecordChecksum.of(Keys.of(7), out.buffer(), out.length()))
                .toBytes();
    }

    @Test
    void keysAreBigEndianNumbersAndNames() {
        assertEquals("000000000000002a", hex(Keys.of(42)));
        assertEquals("000000000000002a0000000000000003", hex(Keys.of(42, 3)));
        assertEquals("000000000000002a6162", hex(Keys.of(42, new byte[] {'a', 'b'})));
        assertEquals("000000000000002a00000000000000036162", hex(Keys.of(42, 3, new byte[] {'a', 'b'})));
    }

    @Test
    void namesHashToTheirPlaceByTheVolumesKey() {
        // The first vector of the SipHash paper's appendix: key 00..0f, message 00..0e, a129ca6149be45e5.
        byte[] message = new byte[15];
        for (int i = 0; i < message.length; i++) {
            message[i] = (byte) i;
        }
        NameHash hash = NameHash.sipHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
        assertEquals(0xa129ca6149be45e5L & Long.MAX_VALUE, hash.of(7, message));
        NameHash ofPlace = NameHash.sipHashOfPlace(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
        byte[] behind = Arrays.copyOfRange(message, Long.BYTES, message.length);
        assertEquals(0xa129ca6149be45e5L & Long.MAX_VALUE, ofPlace.of(0x0001020304050607L, behind));
    }

    @Test
    void recordsHaveTheirBirthBehindTheirVersion() throws IOException {
        byte[] inode = unhex(GOLDEN_INODE);
        byte[] stamped = Births.stamped(inode, 300);
        assertEquals("82ac02" + GOLDEN_INODE.substring(2), hex(stamped));
        assertEquals(300, Births.of(stamped));
        assertEquals(GOLDEN_INODE, hex(Births.body(stamped)));
        assertEquals(0, Births.of(inode));
        assertSame(inode, Births.stamped(inode, 0));
        assertSame(inode, Births.body(inode));
        assertEquals(hex(Inode.encode(Inode.decode(7, inode))), hex(Inode.encode(Inode.decode(7, stamped))));
        byte[] cutOff = {(byte) 0x82, (byte) 0xac};
        assertThrows(IOException.class, () -> Inode.decode(7, Births.body(cutOff)));
    }

    @Test
    void snapshotsVersionsAndDeathsAreStoredAsSpecified() throws IOException {
        SnapshotRecord record = new SnapshotRecord(
                300, "monday", 1_700_000_000_000L, 1_800_000_000_000L, true, false, 4097, 1 << 20, 17);
        String stored = "02000180a0abfef962" + "80c0e285e368" + "8120" + "80808001" + "22" + "00" + "6d6f6e646179";
        assertEquals("snapshot 000000000000012c", new String(record.key(), US_ASCII));
        assertEquals(stored, hex(record.encode()));
        assertEquals(record, SnapshotRecord.decode(record.key(), unhex(stored)));
        assertThrows(
                CorruptionException.class, () -> SnapshotRecord.decode(record.key(), unhex("02000100000000000000")));
        assertThrows(
                UnsupportedFormatException.class,
                () -> SnapshotRecord.decode(record.key(), unhex("01" + stored.substring(2))));
        SnapshotIdentity origin = new SnapshotIdentity(new UUID(1, 2), 300, 1_700_000_000_000L);
        String named = "0100000000000000" + "0200000000000000" + "ac02" + "80a0abfef962";
        SnapshotRecord received = new SnapshotRecord(5, "monday", 1, 0, false, false, 17, 0, 1, origin);
        assertEquals(
                "020000" + "02" + "00" + "11" + "00" + "02" + "01" + named + "6d6f6e646179", hex(received.encode()));
        assertEquals(received, SnapshotRecord.decode(received.key(), received.encode()));
        assertEquals(origin, received.identity(new UUID(7, 7)));
        assertEquals(new UUID(7, 7), record.identity(new UUID(7, 7)).volume());
        byte[] page = Keys.of(7, 3);
        String numbers = "00000000000000070000000000000003";
        byte[] version = VersionKeys.version(VersionKeys.Kind.RECIPE, page, 300);
        assertEquals("72" + numbers + "000000000000012c", hex(version));
        assertEquals(300, VersionKeys.deathOf(VersionKeys.Kind.RECIPE, version));
        assertEquals(numbers, hex(VersionKeys.numbers(VersionKeys.Kind.RECIPE, version)));
        byte[] death = VersionKeys.death(300, 2, VersionKeys.Kind.RECIPE, page);
        assertEquals("000000000000012c0000000000000002" + "72" + numbers, hex(death));
        assertEquals(VersionKeys.Kind.RECIPE, VersionKeys.kindOfDeath(death));
        assertEquals(numbers, hex(VersionKeys.numbersOfDeath(death)));
        byte[] attribute = VersionKeys.version(VersionKeys.Kind.XATTR, Keys.of(7, new byte[] {'a'}), 300);
        assertEquals("780000000000000007000000000000012c61", hex(attribute));
        assertEquals(17, VersionKeys.bytesBeforeName(attribute));
    }

    @Test
    void whatCouldNotBeReadIsRefusedInThePlaceOfEachRecord() {
        byte[] unread = Births.stamped(ValueReader.UNREAD, 300);
        assertEquals("80ac02", hex(unread));
        for (byte[] each : List.of(unread, ValueReader.UNREAD)) {
            for (Executable decoding : List.<Executable>of(
                    () -> Inode.decode(7, each),
                    () -> Entry.decode(7, each),
                    () -> RecipeFormat.decode(Keys.of(7, 3), each, 65536))) {
                CorruptionException e = assertThrows(CorruptionException.class, decoding);
                assertTrue(e.getMessage().contains("when it was replaced"), e.getMessage());
            }
        }
        assertThrows(UnsupportedFormatException.class, () -> Inode.decode(7, new byte[] {0, 1}), "the control");
    }

    @Test
    void anUnfinishedRollbackIsStoredAsSpecified() throws IOException {
        RollbackRecord record = new RollbackRecord(300, true);
        assertEquals("01ac0201", hex(record.encode()));
        assertEquals(record, RollbackRecord.decode(unhex("01ac0201")));
        assertEquals(new RollbackRecord(300, false), RollbackRecord.decode(unhex("01ac0200")));
        for (String damaged : List.of("01ac02", "01ac0202", "01ac020100")) {
            assertThrows(CorruptionException.class, () -> RollbackRecord.decode(unhex(damaged)));
        }
        assertThrows(UnsupportedFormatException.class, () -> RollbackRecord.decode(unhex("02ac0201")));
    }

    @Test
    void replicasAreStoredAsSpecified() throws IOException {
        SnapshotIdentity base = new SnapshotIdentity(new UUID(1, 2), 3, 4);
        SnapshotIdentity target = new SnapshotIdentity(new UUID(1, 2), 5, 6);
        String volume = "0100000000000000" + "0200000000000000";
        ReplicaRecord whole = new ReplicaRecord(base, null);
        assertEquals("01" + "01" + volume + "0308" + "00", hex(whole.encode()));
        assertEquals(whole, ReplicaRecord.decode(whole.encode()));
        ReplicaRecord first = new ReplicaRecord(null, new ReplicaRecord.UnderWay(null, target, 0, 0));
        assertEquals("01" + "00" + "01" + "00" + volume + "050c" + "0000", hex(first.encode()));
        ReplicaRecord underWay = whole.with(new ReplicaRecord.UnderWay(base, target, 300, 7));
        String stored = "01" + "01" + volume + "0308" + "01" + "01" + volume + "0308" + volume + "050c" + "ac02" + "07";
        assertEquals(stored, hex(underWay.encode()));
        assertEquals(underWay, ReplicaRecord.decode(unhex(stored)));
        assertThrows(CorruptionException.class, () -> ReplicaRecord.decode(unhex(stored + "00")));
        assertThrows(UnsupportedFormatException.class, () -> ReplicaRecord.decode(unhex("02" + stored.substring(2))));
    }

    @Test
    void filesInSnapshotsHaveNumbersOfTheirOwn() {
        long id = SnapshotIds.of(3, 7);
        assertEquals(3L << 42 | 7, id);
        assertEquals(3, SnapshotIds.snapshot(id));
        assertEquals(7, SnapshotIds.inode(id));
        assertFalse(SnapshotIds.isInSnapshot(SnapshotIds.MAX_INODE));
        assertTrue(SnapshotIds.FOLDER > SnapshotIds.of(SnapshotIds.MAX_SNAPSHOT, SnapshotIds.MAX_INODE));
    }

    @Test
    void theUsualEntryOfARecipeTakesLessThanEightBytes() {
        RecipePage.Builder page = new RecipePage.Builder();
        for (int entry = 0; entry < 64; entry++) {
            page.add(ChunkId.of(1_000_000, entry), 0, 4096, 0x12345678);
        }
        int bytes = RecipeFormat.encode(KEY, page.build()).length;
        assertTrue(bytes < 64 * 7, "64 entries take " + bytes + " bytes");
    }

    /** Decodes a record that has a checksum. */
    @FunctionalInterface
    interface Decoder {
        Object decode(byte[] value) throws IOException;
    }

    /** Each flipped bit, and each end that is missing, is found. */
    static void assertEveryDamageIsFound(String golden, Decoder decoder, String name) {
        byte[] value = unhex(golden);
        for (int bit = 0; bit < 8 * value.length; bit++) {
            byte[] flipped = value.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            CorruptionException e =
                    assertThrows(CorruptionException.class, () -> decoder.decode(flipped), name + ", bit " + bit);
            assertTrue(e.getMessage().contains(name), e.getMessage());
        }
        for (int length = 0; length < value.length; length++) {
            byte[] cut = Arrays.copyOf(value, length);
            assertThrows(CorruptionException.class, () -> decoder.decode(cut), name + ", cut to " + length);
        }
    }

    @Test
    void damageOfARecordWithAChecksumIsFound() {
        assertEveryDamageIsFound(
                GOLDEN_RECIPE, value -> RecipeFormat.decode(KEY, value, PAGE_BYTES), "recipe page 3 of inode 7");
        for (String golden : List.of(GOLDEN_INTENT, GOLDEN_DROPPED)) {
            assertEveryDamageIsFound(golden, value -> IntentRecord.decode(KEY, value), "inode 7");
        }
        for (String golden : List.of(GOLDEN_RAW, GOLDEN_RAW_FRESH, GOLDEN_RAW_CHANGED)) {
            assertEveryDamageIsFound(golden, value -> RawRecords.decode(7, value), "raw file 7");
        }
    }

    @Test
    void aRecordUnderAnotherKeyIsFound() {
        byte[] recipe = unhex(GOLDEN_RECIPE);
        assertThrows(CorruptionException.class, () -> RecipeFormat.decode(Keys.of(7, 4), recipe, PAGE_BYTES));
        for (String golden : List.of(GOLDEN_INTENT, GOLDEN_DROPPED)) {
            assertThrows(CorruptionException.class, () -> IntentRecord.decode(Keys.of(7, 4), unhex(golden)));
        }
        for (String golden : List.of(GOLDEN_RAW, GOLDEN_RAW_FRESH, GOLDEN_RAW_CHANGED)) {
            assertThrows(CorruptionException.class, () -> RawRecords.decode(8, unhex(golden)));
        }
    }

    @Test
    void aRecipeLongerThanItsPageIsFoundThoughItsChecksumHolds() {
        byte[] value = unhex(GOLDEN_RECIPE);
        assertThrows(CorruptionException.class, () -> RecipeFormat.decode(KEY, value, 4096));
    }

    @Test
    void recordsCutOffOrTooLongAreCorrupt() {
        for (String golden : GOLDEN_WITHOUT_CHECKSUM) {
            byte[] value = unhex(golden);
            for (int length = 0; length <= value.length + 1; length++) {
                if (length != value.length) {
                    byte[] other = Arrays.copyOf(value, length);
                    assertThrows(CorruptionException.class, () -> decode(golden, other), golden + " " + length);
                }
            }
        }
    }

    @Test
    void unknownVersionsAreRefused() {
        for (String golden : GOLDEN_WITHOUT_CHECKSUM) {
            byte[] value = unhex(golden);
            value[0] += 1;
            assertThrows(UnsupportedFormatException.class, () -> decode(golden, value));
        }
        byte[] header = unhex(GOLDEN_HEADER);
        header[1] = 14;
        assertThrows(UnsupportedFormatException.class, () -> SystemRecords.decodeHeader(header));
    }

    /**
     * What volumes of earlier versions lack: writings in counts, compression of containers, intents, raw files,
     * contents, changed bytes on the fast tier, births of records, projects and what users use, rollbacks and replicas.
     */
    @ParameterizedTest
    @ValueSource(ints = {4, 5, 7, 8, 9, 10, 11, 12})
    void aVolumeOfAnEarlierVersionIsRefusedWithTheWayOut(int version) {
        int end = GOLDEN_HEADER.length() - (version <= 9 ? 2 : 0);
        byte[] header = unhex("01" + HexFormat.of().toHexDigits((byte) version) + GOLDEN_HEADER.substring(4, end));
        UnsupportedFormatException e =
                assertThrows(UnsupportedFormatException.class, () -> SystemRecords.decodeHeader(header));
        assertTrue(e.getMessage().contains("format version " + version), e.getMessage());
        assertTrue(e.getMessage().contains("copy the files into a new volume"), e.getMessage());
    }

    @Test
    void recordsOfEarlierVersionsAreRefused() {
        byte[] counts = unhex("03efcdab8967452301010202020101060500040102ea078040ff3f808008ffff0700000202010203");
        assertThrows(UnsupportedFormatException.class, () -> CountRecord.decode(5, counts, 1));
        byte[] entry = unhex("01" + GOLDEN_ENTRY.substring(2, GOLDEN_ENTRY.length() - 2));
        assertThrows(UnsupportedFormatException.class, () -> ContainerEntry.decode(5, entry));
    }

    private static Object decode(String golden, byte[] value) throws IOException {
        return switch (golden) {
            case GOLDEN_INODE -> Inode.decode(42, value);
            case GOLDEN_QUOTA -> QuotaRecord.decode(new QuotaId(QuotaId.Kind.USER, 1), value);
            case GOLDEN_COUNTS -> CountRecord.decode(5, value, 1);
            case GOLDEN_HEADER -> SystemRecords.decodeHeader(value);
            case GOLDEN_CONTAINERS -> SystemRecords.decodeContainers(value);
            case GOLDEN_ENTRY -> ContainerEntry.decode(5, value);
            default -> SystemRecords.decodeTotals(value);
        };
    }

    private static RecipePage recipe() {
        return new RecipePage.Builder()
                .add(ChunkId.of(5, 0), 0, 4096, 0x11223344)
                .add(ChunkId.of(5, 1), 0, 65536, 0x55667788)
                .add(ChunkId.NONE, 0, 8192, 0)
                .add(ChunkId.of(5, 9), 0, 100, -1)
                .add(ChunkId.of(300, 2), 1000, 2000, 7)
                .build();
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    static byte[] unhex(String text) {
        return HexFormat.of().parseHex(text);
    }
}
