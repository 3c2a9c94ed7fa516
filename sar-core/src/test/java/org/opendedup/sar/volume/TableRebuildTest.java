package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.UnreadableByte;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * The container table is removed, damaged and falsified, and made anew from the packs: of random volumes with deleted
 * files, collections, several generations of containers, and what power cuts left.
 */
class TableRebuildTest {
    private static final int KIB = 1 << 10;
    private static final byte[] END = {(byte) 0xff};
    private static final byte[] SUMMARY = "containers".getBytes(UTF_8);

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Map<String, byte[]> contents = new TreeMap<>();
    /** Runs before each call of the directory in {@link #makeHistory}. */
    private interface BeforeCall {
        void run() throws IOException;
    }

    private volatile BeforeCall beforeCall = () -> {};
    private int powerCuts;
    private long strays;
    private int generations;
    private VolumeConfig config;
    private CrashDirectory data = new CrashDirectory(seed);
    private CrashKeyValueStore metadata = new CrashKeyValueStore();

    private Volume open(Directory directory, KeyValueStore database) throws IOException {
        VolumeStores stores = new VolumeStores(directory, database, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    private void write(Volume volume, String name, byte[] bytes) throws IOException {
        GarbageTrial.store(volume, name, bytes);
        contents.put(name, bytes);
    }

    private void remove(Volume volume, String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        contents.remove(name);
    }

    /** Makes a volume by several mounts with writes, deletes and collections, some of which end with a power cut. */
    private void makeHistory(Chunking chunking) throws IOException {
        config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, chunking);
        Volume.create(config, data, metadata, InstantSource.system());
        for (int mount = 0; mount < 6; mount++) {
            Volume volume = open(watched(), metadata);
            byte[] whole = random((100 + random.nextInt(900)) * KIB);
            write(volume, "whole" + mount, whole);
            write(volume, "part" + mount, Arrays.copyOf(whole, whole.length / 3));
            write(volume, "file" + mount, random(1 + random.nextInt(300 * KIB)));
            if (random.nextBoolean()) {
                remove(volume, "whole" + mount);
            }
            if (mount > 0 && contents.containsKey("file" + (mount - 1)) && random.nextBoolean()) {
                remove(volume, "file" + (mount - 1));
            }
            volume.sync();
            int end = random.nextInt(4);
            if (end == 0) {
                crashInCollection(volume);
                continue;
            } else if (end == 1) {
                GarbageTrial.collect(volume, 0);
                volume.sync();
            }
            if (random.nextInt(3) > 0) {
                // More than what is durable, in the packs or not.
                GarbageTrial.store(volume, "more", random(200 * KIB));
                volume.unlink(Inode.ROOT, "more".getBytes(UTF_8));
                volume.sync();
                crash(volume);
            } else {
                volume.close();
            }
        }
    }

    private Directory watched() {
        return WatchedDirectory.of(data, (method, file) -> beforeCall.run());
    }

    /** Cuts the power before one of the calls that a collection makes: any number of copies may be there. */
    private void crashInCollection(Volume volume) throws IOException {
        CrashDirectory before = data;
        CrashKeyValueStore database = metadata;
        int[] calls = {random.nextInt(120)};
        long now = random.nextLong();
        beforeCall = () -> {
            synchronized (calls) {
                if (calls[0]-- == 0) {
                    metadata = database.crash(now);
                    data = before.crash(now);
                }
            }
        };
        try {
            GarbageTrial.collect(volume, 0);
        } catch (IOException e) {
            powerCuts++;
        } finally {
            beforeCall = () -> {};
        }
        if (data == before) {
            crash(volume);
        } else {
            VolumeInMemory.abandon(volume);
        }
    }

    private void crash(Volume volume) throws IOException {
        long now = random.nextLong();
        CrashKeyValueStore metadataLeft = metadata.crash(now);
        data = data.crash(now);
        metadata = metadataLeft;
        VolumeInMemory.abandon(volume);
    }

    private ContainerRecords table(KeyValueStore database) throws IOException {
        return ContainerRecords.open(KeyValueStores.sealed(database, config.keys()));
    }

    private TableRebuild.Report rebuild(KeyValueStore database) throws IOException {
        ContainerRecords records = table(database);
        return new TableRebuild(
                        new PackFolder(data, ContainerCipher.of(config.keys())),
                        records,
                        VolumeIdentity.read(data, records.header().volume()),
                        (step, done, of) -> {})
                .run();
    }

    private List<Finding> defects() throws IOException {
        StoredVolume.Report report = StoredVolume.unmounted(
                        new PackFolder(data, ContainerCipher.of(config.keys())),
                        KeyValueStores.sealed(metadata, config.keys()),
                        "pool0",
                        new Scratch(new CrashDirectory(seed), () -> {}, Scratch.MOST_MEMORY_BYTES, null))
                .check((step, done, of) -> {});
        return report.findings().stream()
                .filter(finding -> finding.severity() != Severity.NOTE)
                .toList();
    }

    /** What is wrong with the volume in use, before and after a collection of everything. */
    private List<String> problems() throws IOException {
        List<String> problems = new ArrayList<>();
        try (Volume volume = open(data, metadata)) {
            problems.addAll(problems(volume));
            GarbageTrial.collect(volume, 0);
            problems.addAll(problems(volume));
            problems.addAll(GarbageTrial.waste(volume, data));
        }
        try (Volume volume = open(data, metadata)) {
            problems.addAll(problems(volume));
        }
        return problems;
    }

    private List<String> problems(Volume volume) throws IOException {
        List<String> problems = new ArrayList<>(VolumeChecker.check(volume));
        for (Map.Entry<String, byte[]> file : contents.entrySet()) {
            try {
                if (!Arrays.equals(file.getValue(), GarbageTrial.read(volume, file.getKey(), file.getValue().length))) {
                    problems.add(file.getKey() + " has other bytes");
                }
            } catch (IOException e) {
                problems.add(file.getKey() + ": " + e);
            }
        }
        return problems;
    }

    private List<byte[]> keys() throws IOException {
        List<byte[]> keys = new ArrayList<>();
        try (Cursor cursor = metadata.scan(Family.CONTAINER, new byte[0], END)) {
            while (cursor.next()) {
                keys.add(cursor.key());
            }
        }
        return keys;
    }

    /** What happens to the container table. */
    enum Accident {
        NONE,
        /** All records are gone, the totals too. */
        REMOVED,
        /** Some records are gone. */
        PARTLY_REMOVED,
        /** Some records cannot be decoded, and the totals neither. */
        DAMAGED,
        /** Some records name another place, another length, another generation or other sizes. */
        WRONG
    }

    private void happen(Accident accident) throws IOException {
        try (Batch batch = metadata.batch()) {
            for (byte[] key : keys()) {
                switch (accident) {
                    case NONE -> {}
                    case REMOVED -> batch.delete(Family.CONTAINER, key);
                    case PARTLY_REMOVED -> {
                        if (random.nextBoolean()) {
                            batch.delete(Family.CONTAINER, key);
                        }
                    }
                    case DAMAGED -> {
                        if (random.nextBoolean()) {
                            byte[] value = metadata.get(Family.CONTAINER, key);
                            batch.put(Family.CONTAINER, key, Arrays.copyOf(value, random.nextInt(value.length)));
                        }
                    }
                    case WRONG -> {
                        if (random.nextBoolean()) {
                            byte[] value = metadata.get(Family.CONTAINER, key);
                            // One bit; what is not decodable then is damaged, too.
                            value[2 + random.nextInt(value.length - 2)] ^= (byte) (1 << random.nextInt(7));
                            batch.put(Family.CONTAINER, key, value);
                        }
                    }
                }
            }
            if (accident == Accident.REMOVED) {
                batch.delete(Family.SYSTEM, SUMMARY);
            } else if (accident == Accident.DAMAGED) {
                batch.put(Family.SYSTEM, SUMMARY, new byte[] {1, 2});
            }
            batch.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theTableIsMadeAnew(Accident accident) throws IOException {
        for (int round = 0; round < 8 || round < 80 && !hasSeenAll(); round++) {
            theTableIsMadeAnew(accident, Chunking.values()[round % Chunking.values().length]);
        }
        assertTrue(hasSeenAll(), "the histories have too little in them");
    }

    private boolean hasSeenAll() {
        return powerCuts > 0 && strays > 0 && generations > 1;
    }

    private void theTableIsMadeAnew(Accident accident, Chunking chunking) throws IOException {
        contents.clear();
        data = new CrashDirectory(random.nextLong());
        metadata = new CrashKeyValueStore();
        makeHistory(chunking);
        assertEquals(List.of(), defects());
        int containers = keys().size();
        happen(accident);
        if (accident == Accident.REMOVED || accident == Accident.DAMAGED) {
            assertFalse(defects().isEmpty());
        }
        TableRebuild.Report report = rebuild(metadata);
        strays += report.strays();
        table(metadata)
                .forEachEntry((container, entry) -> generations =
                        Math.max(generations, entry.stored().writing().generation()));
        assertEquals(0, report.missingChunks(), report::toString);
        assertEquals(0, report.notFound(), report::toString);
        assertEquals(0, report.kept(), report::toString);
        assertTrue(report.containers() <= containers, report::toString);
        assertEquals(List.of(), defects());
        assertEquals(0, rebuild(metadata).changes());
        assertEquals(List.of(), problems());
    }

    /** A container with a damaged header, and one without a footer, are found by their frames. */
    @Test
    void damagedHeadersAndFootersAreNoLoss() throws IOException {
        makeHistory(Chunking.VARIABLE_SHA256);
        List<ContainerEntry> entries = new ArrayList<>();
        table(metadata).forEachEntry((container, entry) -> entries.add(entry));
        int damaged = 0;
        for (ContainerEntry entry : entries) {
            String pack = PackFormat.fileName(entry.stored().pack());
            byte[] bytes = data.contents(pack);
            int at = (int) entry.stored().offset();
            int end = at + (int) entry.stored().bytes();
            if (entry.stored().state() == StoredContainer.State.SEALED && entry.container() % 3 > 0) {
                bytes[entry.container() % 3 == 1 ? at + 9 : end - 9] ^= 1;
                data.put(pack, bytes);
                damaged++;
            }
        }
        assertTrue(damaged > 1, entries::toString);
        assertFalse(defects().isEmpty());
        happen(Accident.REMOVED);
        TableRebuild.Report report = rebuild(metadata);
        assertEquals(0, report.missingChunks() + report.notFound(), report::toString);
        try (Volume volume = open(data, metadata)) {
            assertEquals(List.of(), problems(volume));
        }
    }

    /** Another history of the volume stored other chunks under the same ids: its packs lie in the folder too. */
    @ParameterizedTest
    @EnumSource
    void containersOfAnotherHistoryAreNotTaken(Chunking chunking) throws IOException {
        makeHistory(chunking);
        long now = random.nextLong();
        CrashKeyValueStore otherMetadata = metadata.crash(now);
        CrashDirectory otherData = data.crash(now);
        CrashKeyValueStore ourMetadata = metadata.crash(now);
        data = data.crash(now);
        metadata = ourMetadata;
        try (Volume other = open(otherData, otherMetadata)) {
            GarbageTrial.store(other, "theirs", random(700 * KIB));
        }
        try (Volume ours = open(data, metadata)) {
            write(ours, "ours", random(700 * KIB));
        }
        int copied = 0;
        for (long pack : PackReader.packs(otherData)) {
            String name = PackFormat.fileName(pack);
            if (!data.exists(name) || !Arrays.equals(data.contents(name), otherData.contents(name))) {
                // A higher number, so that nothing is overwritten, and theirs would win if the ids were all that
                // counts.
                data.put(PackFormat.fileName(pack + 1_000_000), otherData.contents(name));
                copied++;
            }
        }
        assertTrue(copied > 0);
        happen(Accident.REMOVED);
        CrashKeyValueStore inPasses = metadata.crash(0);
        metadata = metadata.crash(0);
        TableRebuild.Report report = rebuild(metadata);
        assertEquals(report, rebuildInPasses(inPasses));
        assertEquals(records(metadata), records(inPasses));
        assertTrue(report.foreign() > 0, report::toString);
        assertEquals(0, report.missingChunks() + report.notFound(), report::toString);
        assertEquals(
                List.of(),
                withoutRenamedPacks(defects().stream().map(Finding::what).toList()));
        try (Volume volume = open(data, metadata)) {
            assertEquals(List.of(), withoutRenamedPacks(problems(volume)));
        }
    }

    /**
     * Opening a volume copies the containers that a crash left open, so both histories have made the same ones. On a
     * volume that is not encrypted their packs are equal. With {@code -Dsar.encrypted=true} they differ by random
     * salts: either may be taken, and that of the other history has another number here.
     */
    private List<String> withoutRenamedPacks(List<String> problems) {
        return problems.stream()
                .filter(problem -> config.keys() == null || !problem.contains("expected pack number"))
                .toList();
    }

    /** Each container may be of another history, and the recipes are read again for each. */
    private TableRebuild.Report rebuildInPasses(KeyValueStore database) throws IOException {
        Epoch unknown = new Epoch(new UUID(random.nextLong(), random.nextLong()), 1, random.nextLong());
        ContainerRecords records = table(database);
        return new TableRebuild(
                        new PackFolder(data, ContainerCipher.of(config.keys())),
                        records,
                        unknown,
                        (step, done, of) -> {},
                        1)
                .run();
    }

    /** Writes each change of a batch as a batch of its own: the control of the test below. */
    private static final class Divided extends HookedKeyValueStore<KeyValueStore> {
        private int commitsLeft;

        Divided(KeyValueStore store, int commits) {
            super(store);
            commitsLeft = commits;
        }

        @Override
        protected void put(Batch batch, Family family, byte[] key, byte[] value) throws IOException {
            if (commitsLeft-- == 0) {
                throw new IOException("the power is off");
            }
            try (Batch one = store.batch()) {
                one.put(family, key, value);
                one.commit();
            }
        }
    }

    /** All records of the table and of the counts, as text. */
    private static String records(KeyValueStore store) throws IOException {
        StringBuilder all = new StringBuilder();
        for (Family family : List.of(Family.CONTAINER, Family.COUNT, Family.SYSTEM)) {
            try (Cursor cursor = store.scan(family, new byte[0], END)) {
                while (cursor.next()) {
                    all.append(family)
                            .append(Arrays.toString(cursor.key()))
                            .append(Arrays.toString(cursor.value()))
                            .append('\n');
                }
            }
        }
        return all.toString();
    }

    /** Returns whether the power cut of a rebuilding left the old table or the new one, whatever the crash kept. */
    private boolean leavesOldOrNew(boolean divided) throws IOException {
        String old = records(metadata);
        // Refuses calls from now on, and gives any number of copies of what it had.
        CrashKeyValueStore whole = metadata.crash(1);
        rebuild(whole);
        String made = records(whole);
        assertFalse(old.equals(made));
        boolean either = true;
        for (int trial = 0; trial < 8; trial++) {
            CrashKeyValueStore cut = metadata.crash(1);
            cut.failNextCommits(divided ? 0 : 1);
            try {
                rebuild(divided ? new Divided(cut, 1 + trial) : cut);
            } catch (IOException e) {
                // The power is off.
            }
            String left = records(cut.crash(trial));
            either &= left.equals(old) || left.equals(made);
        }
        return either;
    }

    @Test
    void aPowerCutLeavesTheOldTableOrTheNewOne() throws IOException {
        makeHistory(Chunking.SHA256);
        happen(Accident.REMOVED);
        assertTrue(leavesOldOrNew(false));
    }

    @Test
    void aTableWrittenInPartsWouldBeNoticed() throws IOException {
        makeHistory(Chunking.SHA256);
        happen(Accident.REMOVED);
        assertFalse(leavesOldOrNew(true));
    }

    @ParameterizedTest
    @EnumSource
    void aMissingPackDamagesExactlyTheFilesThatAreNamed(Chunking chunking) throws IOException {
        makeHistory(chunking);
        try (Volume volume = open(data, metadata)) {
            write(volume, "late", random(500 * KIB));
            long linked = volume.lookup(Inode.ROOT, "late".getBytes(UTF_8)).inode();
            long folder = volume.makeDirectory(Inode.ROOT, "folder".getBytes(UTF_8), 040755, new Owner(1, 1))
                    .inode();
            volume.link(linked, folder, "again".getBytes(UTF_8));
        }
        assertEquals(List.of(), defects());
        Map<Long, Long> live = new TreeMap<>();
        table(metadata)
                .forEachEntry((container, entry) -> live.merge(entry.stored().pack(), entry.liveBytes(), Long::sum));
        for (Map.Entry<Long, Long> pack : live.entrySet()) {
            String name = PackFormat.fileName(pack.getKey());
            byte[] bytes = data.contents(name);
            data.delete(name);
            data.sync();
            CrashKeyValueStore rebuilt;
            try {
                List<Finding> defects = defects();
                assertEquals(1, defects.size(), defects::toString);
                assertEquals(Finding.Kind.MISSING_PACK, defects.get(0).kind());
                assertEquals(
                        pack.getValue() > 0 ? Severity.LOSS : Severity.DEFECT,
                        defects.get(0).severity());
                assertDamaged(defects.get(0).files());
                rebuilt = metadata.crash(0);
                metadata = metadata.crash(0);
                rebuild(rebuilt);
            } finally {
                data.put(name, bytes);
                data.sync();
            }
            // The pack comes back after the table was made anew without it: nothing is lost.
            try (Volume volume = open(data.crash(0), rebuilt)) {
                for (Map.Entry<String, byte[]> content : contents.entrySet()) {
                    assertRead(volume, content, 0, content.getValue().length, true);
                }
            }
        }
        assertEquals(List.of(), defects());
    }

    /** The rebuilding goes on behind it, and the entry of the container stays. */
    @Test
    void anUnreadableSectorBehindADamagedHeaderEndsNothing() throws IOException {
        makeHistory(Chunking.VARIABLE_SHA256);
        List<ContainerEntry> entries = new ArrayList<>();
        table(metadata).forEachEntry((container, entry) -> {
            if (entry.stored().state() == StoredContainer.State.SEALED
                    && entry.liveBytes() > 0
                    && entry.stored().bytes() > 3 * PackFormat.ALIGNMENT) {
                entries.add(entry);
            }
        });
        StoredContainer damaged = entries.get(0).stored();
        String pack = PackFormat.fileName(damaged.pack());
        byte[] bytes = data.contents(pack);
        bytes[(int) damaged.offset() + 9] ^= 1;
        data.put(pack, bytes);
        long bad = damaged.offset() + PackFormat.ALIGNMENT + 100;
        Directory disk = UnreadableByte.in(data, pack, bad);
        // The control: the sector is read while the begin of the container is looked for.
        try (Input input = disk.open(pack)) {
            assertThrows(IOException.class, () -> input.readFully(bad - 100, ByteBuffer.allocate(512)));
        }
        ContainerRecords records = table(metadata);
        TableRebuild.Report report = new TableRebuild(
                        new PackFolder(disk, ContainerCipher.of(config.keys())),
                        records,
                        VolumeIdentity.read(data, records.header().volume()),
                        (step, done, of) -> {})
                .run();
        // Entries without counts in the same pack stay, too.
        assertTrue(report.kept() > 0, report::toString);
        assertEquals(
                damaged,
                Objects.requireNonNull(records.entry(entries.get(0).container()))
                        .stored());
        assertEquals(0, report.notFound() + report.missingChunks(), report::toString);
    }

    /** The block may be readable again, and marks would stay. */
    @Test
    void whatCannotBeReadIsNotMarkedAsLost() throws IOException {
        makeHistory(Chunking.VARIABLE_SHA256);
        List<ContainerEntry> entries = new ArrayList<>();
        ContainerRecords records = table(metadata);
        records.forEachEntry((container, entry) -> {
            if (entry.stored().state() == StoredContainer.State.SEALED && entry.liveBytes() > 0) {
                entries.add(entry);
            }
        });
        long container = entries.get(0).container();
        StoredContainer stored = entries.get(0).stored();
        String pack = PackFormat.fileName(stored.pack());
        try (ContainerRecords.Replacement table = records.replace()) {
            table.remove(container);
            table.commit();
        }
        Epoch epoch = VolumeIdentity.read(data, records.header().volume());
        Directory disk = UnreadableByte.in(data, pack, stored.offset() + 100);
        TableRebuild.Report report = new TableRebuild(
                        new PackFolder(disk, ContainerCipher.of(config.keys())), records, epoch, (step, done, of) -> {})
                .run();
        assertEquals(1, report.unreadablePacks(), report::toString);
        assertEquals(1, report.notFound(), report::toString);
        assertEquals(0, damaged(records, container));
        // The control: bytes that can be read, and are none of the container.
        byte[] bytes = data.contents(pack);
        byte[] zeros = bytes.clone();
        Arrays.fill(zeros, (int) stored.offset(), (int) (stored.offset() + stored.bytes()), (byte) 0);
        data.put(pack, zeros);
        report = new TableRebuild(
                        new PackFolder(data, ContainerCipher.of(config.keys())), records, epoch, (step, done, of) -> {})
                .run();
        assertEquals(0, report.unreadablePacks(), report::toString);
        assertTrue(damaged(records, container) > 0);
        data.put(pack, bytes);
    }

    private static long damaged(ContainerRecords records, long container) throws IOException {
        ContainerCounts counts = Objects.requireNonNull(records.counts(container));
        return IntStream.range(0, counts.slots()).filter(counts::isDamaged).count();
    }

    /** Writes all entries anew, each with its own stored container changed. */
    private void change(UnaryOperator<StoredContainer> change) throws IOException {
        ContainerRecords records = table(metadata);
        try (ContainerRecords.Replacement table = records.replace()) {
            records.forEachEntry(
                    (container, entry) -> table.put(container, change.apply(entry.stored()), new BitSet()));
            table.commit();
        }
    }

    private static StoredContainer withRawBytes(StoredContainer stored, long more) {
        return stored.state() == StoredContainer.State.OPEN
                ? stored
                : new StoredContainer(
                        stored.writing(),
                        stored.state(),
                        stored.pack(),
                        stored.offset(),
                        stored.bytes(),
                        stored.slots(),
                        stored.rawBytes() + more,
                        stored.recompressed());
    }

    /** A collection leaves unused chunks of damaged frames out, and deleting the file then clears the damage. */
    @Test
    void fewerBytesOfChunksThanTheContainerHasAreNoDefect() throws IOException {
        makeHistory(Chunking.VARIABLE_SHA256);
        change(stored -> withRawBytes(stored, -1));
        assertEquals(List.of(), defects());
        // The control: more than it has.
        change(stored -> withRawBytes(stored, 2));
        assertFalse(defects().isEmpty());
    }

    /** Only the entry has the level, and a rebuilt table must not let everything be compressed again. */
    @Test
    void theLevelOfASoundEntryStays() throws IOException {
        makeHistory(Chunking.VARIABLE_SHA256);
        change(stored -> stored.state() == StoredContainer.State.SEALED ? stored.withRecompressed(7) : stored);
        String before = records(metadata);
        assertEquals(0, rebuild(metadata).changes());
        assertEquals(before, records(metadata));
        // The control: without the entries the level is not known.
        happen(Accident.REMOVED);
        rebuild(metadata);
        assertFalse(before.equals(records(metadata)));
    }

    /** What files lose is in the totals of the volume at once, and leaves them when the files are deleted. */
    @Test
    void whatIsMarkedAsDamagedIsInTheTotals() throws IOException {
        makeHistory(Chunking.VARIABLE_SHA256);
        try (Volume volume = open(data, metadata)) {
            write(volume, "lost", random(700 * KIB));
        }
        ContainerEntry[] last = new ContainerEntry[1];
        table(metadata).forEachEntry((container, entry) -> last[0] = entry);
        assertTrue(last[0].liveBytes() > 0, last[0]::toString);
        data.delete(PackFormat.fileName(last[0].stored().pack()));
        data.sync();
        happen(Accident.REMOVED);
        assertTrue(rebuild(metadata).notFound() > 0);
        assertEquals(List.of(), wrongTotals(data, metadata));
        // The control: totals that do not have the loss.
        CrashKeyValueStore control = metadata.crash(0);
        metadata = metadata.crash(0);
        KeyValueStore records = KeyValueStores.sealed(control, config.keys());
        try (Batch batch = records.batch()) {
            byte[] totals = records.get(Family.SYSTEM, "totals".getBytes(UTF_8));
            totals[totals.length - 1] = 0;
            batch.put(Family.SYSTEM, "totals".getBytes(UTF_8), totals);
            batch.commit();
        }
        assertFalse(wrongTotals(data.crash(0), control).isEmpty());
    }

    private List<String> wrongTotals(Directory directory, KeyValueStore database) throws IOException {
        try (Volume volume = open(directory, database)) {
            return VolumeChecker.check(volume).stream()
                    .filter(problem -> problem.contains("counts as stored"))
                    .toList();
        }
    }

    /** Reads every file: each range that is named fails at its first and last byte, and everything else is right. */
    private void assertDamaged(List<DamagedFile> files) throws IOException {
        Map<String, DamagedFile> damaged = new TreeMap<>();
        files.forEach(file -> file.paths().forEach(path -> damaged.put(path, file)));
        if (damaged.containsKey("/late")) {
            assertEquals(List.of("/folder/again", "/late"), damaged.get("/late").paths());
        }
        CrashKeyValueStore copy = metadata.crash(0);
        metadata = metadata.crash(0);
        try (Volume volume = open(data.crash(0), copy)) {
            for (Map.Entry<String, byte[]> content : contents.entrySet()) {
                DamagedFile file = damaged.remove("/" + content.getKey());
                int at = 0;
                for (DamagedFile.Range range : file == null ? List.<DamagedFile.Range>of() : file.ranges()) {
                    assertRead(volume, content, at, (int) range.from(), true);
                    assertRead(volume, content, (int) range.from(), (int) range.from() + 1, false);
                    assertRead(volume, content, (int) range.to() - 1, (int) range.to(), false);
                    at = (int) range.to();
                }
                assertRead(volume, content, at, content.getValue().length, true);
            }
        }
        damaged.remove("/folder/again");
        assertEquals(Map.of(), damaged);
    }

    private static void assertRead(Volume volume, Map.Entry<String, byte[]> content, int from, int to, boolean succeeds)
            throws IOException {
        long inode = volume.lookup(Inode.ROOT, content.getKey().getBytes(UTF_8)).inode();
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer found = ByteBuffer.allocate(to - from);
            while (found.hasRemaining() && volume.read(file, from + found.position(), found) > 0) {}
            assertTrue(succeeds, () -> content.getKey() + " can be read from " + from + " to " + to);
            assertEquals(ByteBuffer.wrap(content.getValue(), from, to - from), found.flip());
        } catch (IOException e) {
            assertFalse(succeeds, () -> content.getKey() + " cannot be read from " + from + " to " + to + ": " + e);
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }
}
