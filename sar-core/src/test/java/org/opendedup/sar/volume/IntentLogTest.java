package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.NoBackingFiles;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.repair.MetadataRepair;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.FileIntents;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;
import org.opendedup.sar.volume.write.IntentLog;

/** What a sync of few bytes costs, and what becomes of the records of the intent log. */
@Timeout(120)
class IntentLogTest {
    private static final VolumeConfig CONFIG =
            VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private final FileHistory files = FileHistory.ofFilesInChunks();
    private final AtomicInteger commits = new AtomicInteger();
    private final AtomicInteger dataCalls = new AtomicInteger();
    private final AtomicLong logged = new AtomicLong();
    private CrashDirectory data;
    private CrashKeyValueStore metadata;

    @AutoClose
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        data = new CrashDirectory(seed);
        metadata = new CrashKeyValueStore();
        Volume.create(CONFIG, data, metadata, InstantSource.system());
        open();
    }

    private void open() throws IOException {
        HookedStores stores = new HookedStores();
        stores.hook = this::count;
        volume = Volume.open(
                CONFIG,
                new VolumeStores(
                        stores.hooked(data), stores.hooked(metadata), new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
        files.use(volume);
    }

    private Object count(HookedStores.Call call) throws IOException {
        if (call.isOfMetadata()) {
            if (call.what().equals("commit")) {
                commits.incrementAndGet();
            } else if (call.what().equals("put") && call.arguments()[0] == Family.INTENT) {
                logged.addAndGet(((byte[]) call.arguments()[2]).length);
            }
        } else if (!Set.of("sync", "checkName").contains(call.what())) {
            // For folders in which nothing changed neither makes a call of the system.
            dataCalls.incrementAndGet();
        }
        return call.proceed();
    }

    private void crash() throws IOException {
        cutPower();
        open();
    }

    /** Damages a record of the file "damaged". */
    private void crashWithDamagedRecord(int number) throws IOException {
        long inode = files.inode("damaged");
        cutPower();
        MetadataDefects.damageIntent(KeyValueStores.sealed(metadata, CONFIG.keys()), inode, number);
        open();
    }

    /** Keeps of the stores what is durable. */
    private void cutPower() throws IOException {
        CrashDirectory dataLeft = data.crash(seed);
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        VolumeInMemory.abandon(volume);
        data = dataLeft;
        metadata = metadataLeft;
    }

    private byte[] bytes(int count) {
        byte[] made = new byte[count];
        random.nextBytes(made);
        return made;
    }

    private int records() throws IOException {
        int count = 0;
        try (RecordCursor<IntentRecord> records =
                volume.context().metadata().intents().all()) {
            while (records.next()) {
                count++;
            }
        }
        return count;
    }

    @Test
    void anAppendAndItsSyncSyncTheMetadataOnceAndNoContainer() throws IOException {
        files.make("log");
        files.append("log", bytes(10_000));
        files.store();
        files.append("log", bytes(100));
        boolean undisturbed = false;
        for (int attempt = 0; attempt < 20 && !undisturbed; attempt++) {
            files.store();
            long before = volume.context().committer().commits();
            commits.set(0);
            dataCalls.set(0);
            files.append("log", bytes(100));
            files.sync("log");
            // The periodic commit may come in between.
            undisturbed = volume.context().committer().commits() == before + 1;
        }
        assertTrue(undisturbed);
        assertEquals(1, commits.get(), "syncs of the metadata");
        assertEquals(0, dataCalls.get(), "calls of the containers");
        files.append("log", bytes((int) IntentLog.MAX_BYTES_AT_ONCE + 1));
        files.sync("log");
        assertTrue(dataCalls.get() > 0, "the control: more bytes are stored in a container");
    }

    /** A disk that is to sleep must not be called at all. */
    @Test
    void aVolumeThatNobodyChangesCommitsNothing() throws IOException {
        Committer committer = volume.context().committer();
        files.make("log");
        files.append("log", bytes(10_000));
        volume.sync();
        // Stores what the sync has left, such as a container's end.
        committer.tick();
        long before = committer.commits();
        commits.set(0);
        dataCalls.set(0);
        for (int tick = 0; tick < 10; tick++) {
            committer.tick();
        }
        volume.sync();
        assertEquals(0, committer.commits() - before, "commits");
        assertEquals(0, commits.get(), "writes of the metadata");
        assertEquals(0, dataCalls.get(), "calls of the containers");
        files.append("log", bytes(100));
        files.sync("log");
        assertTrue(committer.commits() > before && commits.get() > 0, "the control: a change is committed");
    }

    @Test
    void manyAppendsAreLoggedOnceEach() throws IOException {
        files.make("log");
        int appends = 300;
        for (int i = 0; i < appends; i++) {
            files.append("log", bytes(100));
            files.sync("log");
        }
        assertTrue(logged.get() <= appends * 130L, () -> logged + " bytes were logged for " + appends * 100);
        crash();
        assertEquals(List.of(), files.problemsAfterCrash());
    }

    /** The kernel's write-back cache sends whole pages. */
    @Test
    void onlyTheChangedBytesOfAPageAreLogged() throws IOException {
        files.make("log");
        byte[] page = bytes(4096);
        int appends = 30;
        for (int i = 1; i <= appends; i++) {
            files.write("log", 0, Arrays.copyOf(page, 100 * i));
            files.sync("log");
        }
        assertTrue(logged.get() <= appends * 130L, () -> logged + " bytes were logged for " + appends * 100);
        logged.set(0);
        for (int at : List.of(0, 500, 1234, 2990)) {
            for (int i = at; i < at + 10; i++) {
                page[i]++;
            }
            files.write("log", 0, Arrays.copyOf(page, 100 * appends));
            files.sync("log");
        }
        assertTrue(logged.get() <= 4 * 40, () -> logged + " bytes were logged for 40");
        files.write("log", 0, Arrays.copyOf(page, 100 * appends));
        files.sync("log");
        crash();
        assertEquals(List.of(), files.problemsAfterCrash());
    }

    @Test
    void smallFilesAreStoredTogetherAndLieTogether() throws IOException {
        int count = 2000;
        for (int i = 0; i < count; i++) {
            files.make("f" + i);
            files.append("f" + i, bytes(1000 + random.nextInt(50)));
        }
        long segments = volume.context().ingest().statistics().segments();
        long ticks = volume.context().committer().commits();
        volume.sync();
        long stored = volume.context().ingest().statistics().segments() - segments;
        long most = count / 250 + 1 + volume.context().committer().commits() - ticks;
        assertTrue(stored <= most, () -> stored + " segments");
        int frames = frames(count);
        assertTrue(frames <= mostFrames(count), () -> "a folder lies in " + frames + " frames");
        assertEquals(List.of(), files.problems());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void controlFilesThatAreStoredOneByOneLieApart() throws IOException {
        int count = 50;
        long segments = volume.context().ingest().statistics().segments();
        for (int i = 0; i < count; i++) {
            files.make("f" + i);
            files.append("f" + i, bytes(1000));
            files.store();
        }
        assertTrue(volume.context().ingest().statistics().segments() - segments >= count);
        assertTrue(frames(count) > mostFrames(count));
    }

    /** SiLo, section 3.2: files of a folder are in one segment, also when several programs write at the same time. */
    @Test
    void smallFilesThatAreStoredTogetherAreFolderByFolder() throws IOException {
        Owner root = new Owner(0, 0);
        List<Long> folders = new ArrayList<>();
        for (String name : List.of("a", "b", "c")) {
            folders.add(volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0040755, 0, root)
                    .inode());
        }
        List<Long> inodes = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            long inode = volume.makeNode(folders.get(i % 3), ("f" + i).getBytes(UTF_8), 0100644, 0, root)
                    .inode();
            OpenFile file = volume.open(inode, true);
            volume.write(file, 0, ByteBuffer.wrap(bytes(1000)));
            volume.close(file);
            inodes.add(inode);
        }
        volume.sync();
        List<Integer> byCreation = new ArrayList<>();
        List<Integer> byFolder = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            byCreation.add(slot(inodes.get(i)));
            byFolder.add(slot(inodes.get(i / 30 + i % 30 * 3)));
        }
        assertEquals(byFolder.stream().sorted().toList(), byFolder);
        assertNotEquals(byCreation.stream().sorted().toList(), byCreation, "control: they are not in that order");
    }

    private int slot(long inode) throws IOException {
        return ChunkId.slot(volume.context().metadata().recipes().page(inode, 0).chunkId(0));
    }

    private static int mostFrames(int files) {
        return 2 + files * 1050 / (60 << 10);
    }

    /** Returns how often the next of the files lies in another frame than the one before. */
    private int frames(int count) throws IOException {
        long before = -1;
        int changes = 0;
        for (int i = 0; i < count; i++) {
            long chunk = volume.context()
                    .metadata()
                    .recipes()
                    .page(files.inode("f" + i), 0)
                    .chunkId(0);
            int frame = volume.context().containers().frameOf(chunk);
            changes += frame == before ? 0 : 1;
            before = frame;
        }
        return changes;
    }

    @Test
    void bytesThatAreStoredOrDroppedLeaveTheLog() throws IOException {
        for (String name : List.of("stored", "cut", "removed", "punched", "copied", "source")) {
            files.make(name);
            files.append(name, bytes(3000));
            files.sync(name);
        }
        assertTrue(records() > 0);
        files.truncate("cut", 0);
        files.remove("removed");
        files.copy("source", "copied");
        files.punch("punched", 0, 1000);
        files.sync("punched");
        assertEquals(List.of(), VolumeChecker.check(volume));
        crash();
        assertEquals(List.of(), files.problemsAfterCrash());
        files.store();
        assertEquals(0, records());
        assertEquals(0, volume.context().writer().intents().bytes());
        assertEquals(List.of(), files.problems());
    }

    @Test
    void capacityIsExactAfterReplay() throws IOException {
        files.make("a");
        files.append("a", bytes(20_000));
        files.store();
        files.write("a", 5_000, bytes(3_000));
        files.append("a", bytes(700));
        files.sync("a");
        files.make("b");
        files.append("b", bytes(4_096));
        files.sync("b");
        crash();
        assertEquals(20_700 + 4_096, volume.context().capacity().takenBytes());
        assertEquals(List.of(), files.problemsAfterCrash());
        files.store();
        assertEquals(20_700 + 4_096, volume.context().capacity().takenBytes());
        assertEquals(20_700 + 4_096, volume.context().metadata().totals().logicalBytes());
    }

    @Test
    void moreBytesThanTheLogTakesAreStored() throws IOException {
        files.make("large");
        files.append("large", bytes((int) IntentLog.MAX_BYTES_AT_ONCE + 1));
        files.sync("large");
        assertEquals(0, records());
        files.make("often");
        for (int i = 0; i < 20; i++) {
            files.write("often", 0, bytes(60 << 10));
            files.sync("often");
            long bytes = volume.context().writer().intents().bytes();
            assertTrue(bytes <= FileIntents.MAX_BYTES, () -> bytes + " bytes are in the log");
        }
        crash();
        assertEquals(List.of(), files.problemsAfterCrash());
    }

    @Test
    void theLogOfAllFilesIsBounded() throws IOException {
        long most = MemoryPlan.of(CONFIG).intentLog();
        long written = 0;
        for (int i = 0; written < 2 * most; i++) {
            files.make("f" + i);
            files.append("f" + i, bytes(50_000));
            files.sync("f" + i);
            written += 50_000;
            long bytes = volume.context().writer().intents().bytes();
            assertTrue(bytes <= most, () -> bytes + " bytes are in the log, at most " + most);
        }
        assertTrue(volume.context().writer().intents().bytes() > most / 2);
    }

    @Test
    void aFileWithoutANameLeavesNoRecords() throws IOException {
        files.make("open");
        OpenFile open = volume.open(files.inode("open"), true);
        volume.write(open, 0, ByteBuffer.wrap(bytes(500)));
        files.remove("open");
        volume.sync(open);
        assertTrue(records() > 0);
        crash();
        volume.sync();
        assertEquals(0, records());
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(0, volume.context().capacity().takenBytes());
    }

    @Test
    void aDamagedRecordMakesItsFileUnreadableUntilARepairAndNoOther() throws IOException {
        for (String name : List.of("damaged", "sound")) {
            files.make(name);
            for (int i = 0; i < 3; i++) {
                files.append(name, bytes(100));
                files.sync(name);
            }
        }
        byte[] whole = files.content("damaged").clone();
        long inode = files.inode("damaged");
        crashWithDamagedRecord(1);
        IOException refused = assertThrows(IOException.class, () -> files.read("damaged"));
        assertTrue(refused.getMessage().contains("inode " + inode), refused.getMessage());
        assertThrows(
                CorruptionException.class,
                () -> volume.maintenance().forEachReference(inode, (at, chunk, from, length, prefix) -> {
                    throw new AssertionError("a restore reads older bytes");
                }),
                "a restore without the mount, which reports the file as damaged");
        assertArrayEquals(files.content("sound"), files.read("sound"));
        List<String> problems = VolumeChecker.check(volume);
        assertTrue(problems.toString().contains("intent log of inode " + inode), problems::toString);
        volume.close();

        MetadataRepair repair = new MetadataRepair(
                KeyValueStores.sealed(metadata, CONFIG.keys()), new CrashDirectory(seed), new NoBackingFiles(), 1);
        repair.intents(inode, true);
        assertTrue(repair.finish() > 0);
        open();
        // The lost record may have said that the first one's bytes were stored, and newer ones: they are not brought
        // back.
        byte[] expected = whole.clone();
        Arrays.fill(expected, 0, 200, (byte) 0);
        assertArrayEquals(expected, files.read("damaged"));
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aFileWithADamagedRecordCanBeRemoved() throws IOException {
        files.make("damaged");
        files.append("damaged", bytes(100));
        files.sync("damaged");
        crashWithDamagedRecord(0);
        files.remove("damaged");
        volume.sync();
        assertEquals(0, records());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** A snapshot needs an empty log: what is left of such a file must not count for ever. */
    @Test
    void soundRecordsBeforeADamagedOneCountNoMore() throws IOException {
        files.make("damaged");
        for (int i = 0; i < 3; i++) {
            files.append("damaged", bytes(100));
            files.sync("damaged");
        }
        crashWithDamagedRecord(1);
        files.remove("damaged");
        volume.sync();
        assertEquals(0, records());
        assertEquals(0, volume.context().writer().intents().bytes());
    }

    @Test
    void recordsOfNoFileOrPastTheEndOfAFileAreFindings() throws IOException {
        files.make("short");
        volume.sync();
        long inode = files.inode("short");
        volume.context().committer().changes().lock();
        try {
            volume.context().metadata().intents().put(4711, new IntentRecord(0, 0, 1, new byte[1]));
            volume.context().metadata().intents().put(inode, new IntentRecord(0, 5, 1, new byte[1]));
        } finally {
            volume.context().committer().changes().unlock();
        }
        String problems = VolumeChecker.check(volume).toString();
        assertTrue(problems.contains("the intent log has bytes of inode 4711, which is no file"), problems);
        assertTrue(problems.contains("the intent log of inode " + inode + " continues past the end"), problems);
        volume.commit();
        crash();
        assertEquals(List.of(), VolumeChecker.check(volume), "the mount removes the first and grows the file");
    }

    @Test
    void theSizeThatASyncAcknowledgedStaysWhenTheLogIsEmptied() throws IOException {
        files.make("sparse");
        files.append("sparse", bytes(100));
        files.sync("sparse");
        files.append("sparse", bytes(100));
        files.punch("sparse", 0, 100);
        assertEquals(0, records());
        files.make("other");
        files.append("other", bytes(10));
        files.sync("other");
        crash();
        assertTrue(files.read("sparse").length >= 100, "the file is shorter than a sync acknowledged");
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aFileWhoseInodeIsDamagedKeepsItsRecordsAndNoOtherFromBeingUsed() throws IOException {
        for (String name : List.of("damaged", "sound")) {
            files.make(name);
            files.append(name, bytes(100));
            files.sync(name);
        }
        long inode = files.inode("damaged");
        cutPower();
        MetadataDefects.damageInode(KeyValueStores.sealed(metadata, CONFIG.keys()), inode);
        open();
        assertArrayEquals(files.content("sound"), files.read("sound"));
        assertThrows(IOException.class, () -> files.read("damaged"));
        volume.sync();
        assertEquals(1, records());
    }
}
