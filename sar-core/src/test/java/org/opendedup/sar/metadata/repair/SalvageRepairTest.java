package org.opendedup.sar.metadata.repair;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.check.MetadataCheck;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CountingKeyValueStore;
import org.opendedup.sar.metadata.IntentRecords;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.NoBackingFiles;
import org.opendedup.sar.metadata.RawRecords;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.metadata.versions.VersionKeeper;

/** What others refer to is made anew, bytes that may be lost become errors, and nothing is read again and again. */
class SalvageRepairTest {
    private static final int PAGE_BYTES = 4096;
    private static final long FILE = 512;
    private static final long CONTAINER = 7;
    private static final long LOST_CONTAINER = 99;
    private static final long FREE = 100_000;
    private static final long PAGES = 300;
    private static final NameHash HASH = NameHash.sipHash(1, 2);

    private final KeyValueStore heap = new HeapKeyValueStore();
    private final CountingKeyValueStore database = new CountingKeyValueStore(heap);
    private final LostRecords lost = new LostRecords();
    private final Set<Long> backed = new TreeSet<>();
    private SalvageRepair repair;

    @BeforeEach
    void make() throws IOException {
        lost.setContainer(LOST_CONTAINER);
        put(
                Family.SYSTEM,
                SystemRecords.HEADER,
                SystemRecords.encodeHeader(
                        new MetadataHeader(new UUID(1, 2), PAGE_BYTES, 0, MetadataHeader.FORMAT_VERSION)));
        put(Family.SYSTEM, SystemRecords.NAME_HASH, SystemRecords.encodeNameHash(1, 2, false));
        put(Family.SYSTEM, SystemRecords.NEXT_INODE, SystemRecords.encodeNumber(FREE));
        directory(Inode.ROOT, Inode.ROOT, 2);
    }

    private void put(Family family, byte[] key, byte[] value) throws IOException {
        MetadataDefects.put(heap, family, key, value);
    }

    private void directory(long id, long parent, int links) throws IOException {
        Inode inode = Inode.of(id, Modes.DIRECTORY | 0755, Inode.Times.ofCreation(0));
        put(Family.INODE, Keys.of(id), Inode.encode(inode.withLinks(links).withParent(parent)));
    }

    private void file(long id, int links, long size, long dataBytes) throws IOException {
        Inode inode = Inode.of(id, Modes.REGULAR | 0600, Inode.Times.ofCreation(0));
        put(Family.INODE, Keys.of(id), Inode.encode(inode.withLinks(links).withBytes(size, dataBytes)));
    }

    private static byte[] key(long folder, String text) {
        byte[] name = text.getBytes(US_ASCII);
        return Keys.of(folder, HASH.of(folder, name), name);
    }

    private void name(long folder, String name, long inode, int type) throws IOException {
        put(Family.ENTRY, key(folder, name), Entry.encode(inode, type));
    }

    private void pages(long inode, long... pages) throws IOException {
        for (long page : pages) {
            byte[] key = Keys.of(inode, page);
            put(Family.RECIPE, key, LostPages.encode(key, CONTAINER, PAGE_BYTES));
        }
    }

    private void intents(long inode, int... numbers) throws IOException {
        for (int number : numbers) {
            byte[] key = Keys.of(inode, number);
            put(Family.INTENT, key, IntentRecord.encode(key, new IntentRecord(number, 0, 1, new byte[1])));
        }
    }

    private void lose(Family family, long first, long last) {
        lost.add(family, Keys.of(first - 1, Long.MAX_VALUE), Keys.of(last + 1));
    }

    private @Nullable Entry entry(long folder, String text) throws IOException {
        byte[] value = heap.get(Family.ENTRY, key(folder, text));
        return value == null ? null : Entry.decode(folder, value);
    }

    private Inode inode(long id) throws IOException {
        byte[] value = heap.get(Family.INODE, Keys.of(id));
        assertNotNull(value, "inode " + id);
        return Inode.decode(id, value);
    }

    /** Repairs, checks, and returns what the check finds. */
    private List<String> salvage() throws IOException {
        BackingFiles backing = new BackingFiles() {
            @Override
            public long last(long inode) {
                return backed.contains(inode) ? inode << 8 : NONE;
            }

            @Override
            public void forEachInode(Visitor visitor) throws IOException {
                for (long inode : backed) {
                    visitor.visit(inode);
                }
            }
        };
        repair = new SalvageRepair(database, lost, backing, 5);
        do {
            check(repair);
        } while (repair.finish() > 0);
        repair.complete();
        return check(Corrections.NONE);
    }

    private List<String> check(Corrections corrections) throws IOException {
        List<String> findings = new ArrayList<>();
        new MetadataCheck(
                        MetadataRecords.of(database),
                        container -> null,
                        (severity, kind, what) -> {
                            findings.add(what);
                            return 0;
                        },
                        corrections)
                .run(
                        new Scratch(new CrashDirectory(0), () -> {}, Scratch.MOST_MEMORY_BYTES, null),
                        0,
                        (step, done, of) -> {});
        return findings;
    }

    private long containerOf(long inode, long page) throws IOException {
        byte[] key = Keys.of(inode, page);
        byte[] value = heap.get(Family.RECIPE, key);
        assertNotNull(value, "page " + page + " reads as zeros");
        return ChunkId.container(RecipeFormat.decode(key, value, PAGE_BYTES).chunkId(0));
    }

    /** An older snapshot has a version of the page, which is sound. */
    @Test
    void aPageThatIsLostIsLostForSnapshotsAfterItsLastVersionOnly() throws IOException {
        name(Inode.ROOT, "file", FILE, Modes.REGULAR);
        file(FILE, 1, 2 * PAGE_BYTES, 2 * PAGE_BYTES);
        lost.addRecord(Family.RECIPE, Keys.of(FILE, 0));
        lost.addRecord(Family.RECIPE, Keys.of(FILE, 1));
        byte[] key = Keys.of(FILE, 0);
        for (long death : new long[] {300, 500}) {
            byte[] value = Births.stamped(LostPages.encode(key, CONTAINER, PAGE_BYTES), death - 200);
            put(Family.VERSION, VersionKeys.version(Kind.RECIPE, key, death), value);
            put(Family.DEATH, VersionKeys.death(death, death - 200, Kind.RECIPE, key), VersionKeeper.DEATH);
        }
        put(Family.SYSTEM, SystemRecords.NEXT_SNAPSHOT, SystemRecords.encodeNumber(600));
        salvage();
        assertEquals(LOST_CONTAINER, containerOf(FILE, 0));
        assertEquals(500, Births.of(Objects.requireNonNull(heap.get(Family.RECIPE, key))));
        assertEquals(0, Births.of(Objects.requireNonNull(heap.get(Family.RECIPE, Keys.of(FILE, 1)))));
    }

    /** Keys whose last bytes are 0 have a key before them only with a borrow. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 255, 256, 257})
    void aPageThatIsLostBecomesAnErrorAndAHoleStaysOne(long damaged) throws IOException {
        name(Inode.ROOT, "file", FILE, Modes.REGULAR);
        file(FILE, 1, PAGES * PAGE_BYTES, 5 * PAGE_BYTES);
        long[] pages = {0, 1, 255, 256, 257};
        for (long page : pages) {
            if (page != damaged) {
                pages(FILE, page);
            }
        }
        lost.addRecord(Family.RECIPE, Keys.of(FILE, damaged));
        name(Inode.ROOT, "sparse", FILE + 1, Modes.REGULAR);
        file(FILE + 1, 1, PAGES * PAGE_BYTES, PAGE_BYTES);
        pages(FILE + 1, 299);
        lose(Family.RECIPE, FILE + 1, FILE + 1);
        assertEquals(List.of(), salvage());
        for (long page : pages) {
            assertEquals(page == damaged ? LOST_CONTAINER : CONTAINER, containerOf(FILE, page), "page " + page);
        }
        assertNull(heap.get(Family.RECIPE, Keys.of(FILE, 2)), "a hole stays a hole");
        assertNull(heap.get(Family.RECIPE, Keys.of(FILE, 258)), "a hole stays a hole");
        assertNull(heap.get(Family.RECIPE, Keys.of(FILE + 1, 0)), "a file that lost nothing stays as it is");
        assertEquals(5 * PAGE_BYTES, inode(FILE).dataBytes());
        byte[] counts = Objects.requireNonNull(heap.get(Family.COUNT, Keys.of(LOST_CONTAINER)));
        assertEquals(
                1,
                CountRecord.decode(LOST_CONTAINER, counts, CountRecord.NO_GENERATION)
                        .count(0));
        assertTrue(lost.told().toString().contains("up to 4096 bytes of inode 512, in 1 pages"), lost::toString);
    }

    /** Before, one such file refused the whole salvage. */
    @Test
    void aSparseFileOfWhichNobodyKnowsWhatIsLostCannotBeOpenedUntilARepair() throws IOException {
        long size = 1L << 60;
        name(Inode.ROOT, "sparse", FILE, Modes.REGULAR);
        file(FILE, 1, size, 2 * PAGE_BYTES);
        pages(FILE, 5);
        name(Inode.ROOT, "dense", FILE + 1, Modes.REGULAR);
        long pages = SalvageRepair.MOST_DOUBTFUL_PAGES + 10;
        file(FILE + 1, 1, pages * PAGE_BYTES, pages * PAGE_BYTES);
        lose(Family.RECIPE, FILE, FILE + 1);
        List<String> found = salvage();
        assertEquals(2, found.size(), found::toString);
        assertEquals("inode 512 counts 8192 bytes of data and its recipe has 4096", found.get(0));
        assertTrue(found.get(1).contains("of inode 512 is damaged or missing: its file cannot be opened"));
        assertTrue(lost.told().toString().contains("bytes of inode 512, which has more than"), lost.told()::toString);
        assertEquals(2 * PAGE_BYTES, inode(FILE).dataBytes(), "the next repair needs it");
        assertEquals(LOST_CONTAINER, containerOf(FILE + 1, pages - 1));
        MetadataRepair plain = new MetadataRepair(heap, new CrashDirectory(1), new NoBackingFiles(), 5);
        do {
            check(plain);
        } while (plain.finish() > 0);
        assertEquals(List.of(), check(Corrections.NONE));
        assertEquals(PAGE_BYTES, inode(FILE).dataBytes());
    }

    @Test
    void aRecordThatIsLostIsInItsRangeAndItsNeighboursAreNot() {
        for (long number : new long[] {0, 1, 255, 256, 65_535, 65_536, 1L << 40}) {
            LostRecords one = new LostRecords();
            one.addRecord(Family.INODE, Keys.of(number));
            assertTrue(one.contains(Family.INODE, Keys.of(number)), "number " + number);
            assertFalse(one.contains(Family.INODE, Keys.of(number + 1)), "number " + number);
            assertFalse(number > 0 && one.contains(Family.INODE, Keys.of(number - 1)), "number " + number);
        }
    }

    @Test
    void rangesAreBoundedAndEachLostRecordIsInOne() {
        for (long number = 1; number < 2L * LostRecords.MOST_RANGES; number++) {
            lost.addRecord(Family.INODE, Keys.of(2 * number));
        }
        assertEquals(LostRecords.MOST_RANGES, lost.of(Family.INODE).size());
        for (long number = 1; number < 2L * LostRecords.MOST_RANGES; number++) {
            assertTrue(lost.contains(Family.INODE, Keys.of(2 * number)), "number " + number);
        }
        assertFalse(lost.contains(Family.INODE, Keys.of(3)));
        assertEquals(Sentences.MOST + 1, lost.told().size());
    }

    @Test
    void whatNamesLeadToIsMadeAnewWhereItLay() throws IOException {
        name(Inode.ROOT, "folder", 10, Modes.DIRECTORY);
        name(10, "below", 11, Modes.DIRECTORY);
        name(11, "file", 12, Modes.REGULAR);
        name(10, "hard link", 12, Modes.REGULAR);
        name(10, "fifo", 13, Modes.FIFO);
        name(10, "link", 14, Modes.SYMBOLIC_LINK);
        name(10, "whole", 20, Modes.REGULAR);
        file(20, 1, 0, 0);
        pages(12, 0, 1);
        lose(Family.INODE, 10, 14);
        assertEquals(List.of(), salvage());
        assertEquals(3, inode(Inode.ROOT).links());
        assertEquals(3, inode(10).links());
        assertEquals(Inode.ROOT, inode(10).parent());
        assertEquals(10, inode(11).parent());
        assertEquals(2, inode(12).links());
        assertEquals(2 * PAGE_BYTES, inode(12).size());
        assertEquals(Modes.FIFO | 0600, inode(13).mode());
        assertNull(entry(10, "link"), "its content was in the inode");
        assertNull(entry(Inode.ROOT, "lost+found"), "all have names");
        String told = lost.told().toString();
        assertTrue(told.contains("the symbolic link or device 'link' in the folder with inode 10 (inode 14)"), told);
        assertTrue(told.contains("owner, mode and times of the folder 'folder' in the folder with inode 1 (inode 10)"));
        assertTrue(told.contains("'file' in the folder with inode 11 (inode 12)")
                || told.contains("'hard link' in the folder with inode 10 (inode 12)"));
        assertFalse(told.contains("(inode 20)"), told);
    }

    /** A name that leads nowhere though nothing is lost there is taken out, as by any repair. */
    @Test
    void aNameOfAnInodeThatIsNotLostIsTakenOut() throws IOException {
        name(Inode.ROOT, "file", 12, Modes.REGULAR);
        lose(Family.INODE, 13, 20);
        assertEquals(List.of(), salvage());
        assertNull(entry(Inode.ROOT, "file"));
    }

    /** Each of these names was looked for among all others. */
    @Test
    void lostLinksInOneFolderCostNoScanEach() throws IOException {
        int links = 2000;
        for (int i = 0; i < links; i++) {
            name(Inode.ROOT, "link" + i, 1000 + i, Modes.SYMBOLIC_LINK);
        }
        lose(Family.INODE, 1000, 1000 + links);
        database.reset();
        assertEquals(List.of(), salvage());
        assertTrue(database.reads(Family.ENTRY) < 20 * links, () -> database.reads(Family.ENTRY) + " names read");
        assertEquals(links + 1, lost.told().size());
    }

    @Test
    void anInodeWithoutLinksThatIsNotBeingFreedGetsAName() throws IOException {
        file(10, 0, 0, 0);
        directory(11, Inode.ROOT, 0);
        file(12, 0, 0, 0);
        MetadataDefects.putOrphan(heap, 12, 0);
        file(13, 0, 0, 0);
        MetadataDefects.putOrphan(heap, 13, 5); // only its tail
        lose(Family.ORPHAN, 10, 11);
        assertEquals(List.of(), salvage());
        for (long id : new long[] {10, 11, 13}) {
            assertNotNull(entry(FREE, "#" + id), "inode " + id);
            assertEquals(id == 11 ? 2 : 1, inode(id).links(), "inode " + id);
        }
        assertNull(entry(FREE, "#12"), "an inode that is being freed got a name");
        assertEquals(0, inode(12).links());
        assertNull(heap.get(Family.ORPHAN, Keys.of(10)), "the next mount would free it");
        assertEquals(3, inode(Inode.ROOT).links());
        assertEquals(3, inode(FREE).links());
    }

    @Test
    void aFileInThePlaceOfTheFolderStaysAndTheFolderGetsANumber() throws IOException {
        file(10, 1, 0, 0);
        name(Inode.ROOT, "lost+found", 10, Modes.REGULAR);
        file(11, 1, 0, 0);
        assertEquals(List.of(), salvage());
        Entry folder = entry(Inode.ROOT, "lost+found-1");
        assertNotNull(folder);
        assertNotNull(entry(folder.inode(), "#11"));
        assertEquals(10, Objects.requireNonNull(entry(Inode.ROOT, "lost+found")).inode());
        assertEquals(List.of("the name of inode 11, which is now /lost+found-1/#11"), lost.told());
    }

    /** Pages after the end of the file, which are not freed yet, must not become a part of the file again. */
    @Test
    void aTailOfWhichTheRecordIsLostIsFreedAllTheSame() throws IOException {
        name(Inode.ROOT, "file", FILE, Modes.REGULAR);
        file(FILE, 1, 2 * PAGE_BYTES - 1, 4 * PAGE_BYTES - 1);
        pages(FILE, 0, 2, 3);
        byte[] last = Keys.of(FILE, 1);
        put(Family.RECIPE, last, LostPages.encode(last, CONTAINER, PAGE_BYTES - 1));
        lose(Family.ORPHAN, FILE, FILE);
        assertEquals(List.of(), salvage());
        assertEquals(2 * PAGE_BYTES - 1, inode(FILE).size());
        byte[] orphan = Objects.requireNonNull(heap.get(Family.ORPHAN, Keys.of(FILE)));
        assertEquals(2, Namespace.decodeOrphan(FILE, orphan).fromPage());
    }

    /** Bytes that only the intent log or the fast tier has, of files whose inodes are lost. */
    @Test
    void theRecordsOfAFileWhoseInodeIsLostStay() throws IOException {
        name(Inode.ROOT, "fresh", 10, Modes.REGULAR);
        intents(10, 0, 1);
        intents(11, 0);
        MetadataDefects.putRaw(heap, 11);
        MetadataDefects.putRaw(heap, 12);
        lose(Family.INODE, 10, 12);
        MetadataDefects.putRaw(heap, 30);
        assertEquals(List.of(), salvage());
        assertEquals(1, inode(10).size());
        assertNotNull(heap.get(Family.INTENT, Keys.of(10, 1)));
        assertNotNull(heap.get(Family.INTENT, Keys.of(11, 0)));
        assertNotNull(entry(FREE, "#11"));
        assertNotNull(heap.get(Family.RAW, Keys.of(11)));
        assertNotNull(heap.get(Family.RAW, Keys.of(12)));
        assertNull(heap.get(Family.RAW, Keys.of(30)), "of no file");
    }

    /** Without its record, a raw file reads as zeros. */
    @Test
    void aLostRecordOfARawFileIsMadeAnewUnlessTheFileIsInChunks() throws IOException {
        name(Inode.ROOT, "raw", 10, Modes.REGULAR);
        file(10, 1, 5000, 0);
        name(Inode.ROOT, "in chunks", 11, Modes.REGULAR);
        file(11, 1, PAGE_BYTES, PAGE_BYTES);
        pages(11, 0);
        name(Inode.ROOT, "not lost", 40, Modes.REGULAR);
        file(40, 1, 5000, 0);
        backed.addAll(Set.of(10L, 11L, 12L, 40L));
        lose(Family.RAW, 10, 12);
        assertEquals(List.of(), salvage());
        byte[] record = Objects.requireNonNull(heap.get(Family.RAW, Keys.of(10)));
        assertEquals(10 << 8, RawRecords.decode(10, record).number());
        assertNull(heap.get(Family.RAW, Keys.of(11)));
        assertNull(heap.get(Family.RAW, Keys.of(12)), "of no file");
        assertNull(heap.get(Family.RAW, Keys.of(40)));
    }

    /** A file on the fast tier of which no name and no record is left is found there. */
    @Test
    void aRawFileOfWhichEverythingIsLostGetsAName() throws IOException {
        backed.add(10L);
        lose(Family.INODE, 10, 10);
        lose(Family.RAW, 10, 10);
        assertEquals(List.of(), salvage());
        assertNotNull(entry(FREE, "#10"));
        assertNotNull(heap.get(Family.RAW, Keys.of(10)));
        assertTrue(lost.told().toString().contains("inode 10"), lost.told()::toString);
    }

    /** A commit for each round and at the end, whatever the number of changes. */
    @Test
    void allChangesAreMadeDurableAtOnce() throws IOException {
        for (int i = 0; i < 12_000; i++) {
            name(Inode.ROOT, "file" + i, 1000 + i, Modes.REGULAR);
        }
        lose(Family.INODE, 1000, 13_000);
        int before = database.commits();
        assertEquals(List.of(), salvage());
        assertTrue(database.commits() - before < 8, () -> database.commits() + " durable commits");
        assertEquals(0600 | Modes.REGULAR, inode(12_999).mode());
    }

    /** Returns each record of the intent log as its inode, with a mark if it is damaged. */
    private List<String> markedIntents() throws IOException {
        MetadataSalvage.markIntents(heap, lost);
        List<String> found = new ArrayList<>();
        try (RecordCursor<IntentRecord> records =
                IntentRecords.cursor(heap.scan(Family.INTENT, Keys.FIRST, Keys.END))) {
            while (records.next()) {
                found.add(records.id() + (records.value() == null ? " damaged" : ""));
            }
        }
        return found;
    }

    @Test
    void intentsThatMayBeMissingAfterTheLastAreNoticed() throws IOException {
        intents(5, 0, 1, 2);
        intents(6, 0);
        intents(7, 3);
        lost.add(Family.INTENT, Keys.of(5, 2), Keys.of(7, 3));
        assertEquals(List.of("5", "5", "5", "5 damaged", "6", "6 damaged", "7"), markedIntents());
        assertEquals(3, lost.told().size());
        assertTrue(lost.told().get(1).contains("inode 5 "), lost.told()::toString);
    }

    @Test
    void intentsOfWhichNoneIsMissingStay() throws IOException {
        intents(5, 0, 1, 2);
        intents(6, 0);
        lost.add(Family.INTENT, Keys.of(5, 0), Keys.of(5, 1));
        lost.add(Family.RECIPE, Keys.of(5, 2), Keys.of(9, 0));
        assertEquals(List.of("5", "5", "5", "6"), markedIntents());
        assertEquals(2, lost.told().size());
    }

    /** An intent that cannot be used is not given up by a salvage: an administrator does that. */
    @Test
    void aFileWithADamagedIntentCannotBeOpenedAfterwards() throws IOException {
        name(Inode.ROOT, "file", 10, Modes.REGULAR);
        file(10, 1, 1, 0);
        intents(10, 0, 1);
        MetadataDefects.damageIntent(heap, 10, 1);
        List<String> found = salvage();
        assertEquals(1, found.size(), found::toString);
        assertNotNull(heap.get(Family.INTENT, Keys.of(10, 0)));
    }

    @Test
    void recordsThatMakeNoSenseAreNotSound() throws IOException {
        SoundRecords sound = new SoundRecords(PAGE_BYTES, HASH);
        byte[] page = Keys.of(FILE, 3);
        byte[] recipe = LostPages.encode(page, CONTAINER, PAGE_BYTES);
        assertTrue(sound.isSound(Family.RECIPE, page, recipe));
        assertFalse(sound.isSound(Family.RECIPE, page, new byte[] {77, 77, 77}));
        assertFalse(sound.isSound(Family.RECIPE, Keys.of(FILE, 4), recipe), "that of another page");
        byte[] name = Entry.encode(600, Modes.REGULAR);
        assertTrue(sound.isSound(Family.ENTRY, key(1, "name"), name));
        assertFalse(sound.isSound(Family.ENTRY, Keys.of(1, 5, "name".getBytes(US_ASCII)), name), "not at its hash");
        assertTrue(sound.isSound(Family.ORPHAN, Keys.of(5), Namespace.encodeOrphan(0)));
        assertFalse(sound.isSound(Family.ORPHAN, Keys.of(5), new byte[] {77}), "a mount would refuse the record");
        assertFalse(sound.isSound(Family.INODE, Keys.of(5), new byte[] {77}));
        assertFalse(sound.isSound(Family.XATTR, new byte[] {1}, name));
        assertEquals(600, sound.highestInode());
        assertEquals(CONTAINER, sound.highestContainer());
        assertTrue(sound.isSound(Family.COUNT, Keys.of(4000), new byte[] {77}), "a repair counts again");
        assertEquals(4000, sound.highestContainer());
    }
}
