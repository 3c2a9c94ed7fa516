package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Records that commits and the freeing of snapshots and files need are damaged, or in blocks that the disk does not
 * return. Nothing else is held up, and nobody gets wrong bytes.
 */
@Timeout(120)
class UnreadableMetadataTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int BYTES = 200_000;
    /** Pages of one step of freeing. */
    private static final int PAGES_AT_ONCE = 256;

    /** A database of which one record cannot be read. */
    private static final class Unreadable extends HookedKeyValueStore<CrashKeyValueStore> {
        private Family family = Family.SYSTEM;
        private byte[] key = {};
        private IOException failure = new IOException();
        private volatile boolean refusesCommits;
        private volatile boolean hidesVersions;
        /** A scan that begins at this version meets a bad block. */
        private volatile byte[] hiddenVersion = {0};

        Unreadable(CrashKeyValueStore store) {
            super(store);
        }

        void fail(Family ofFamily, byte[] atKey, IOException with) {
            family = ofFamily;
            key = atKey;
            failure = with;
        }

        void heal() {
            key = new byte[0];
        }

        @Override
        public byte[] get(Family from, byte[] at) throws IOException {
            if (from == family && Arrays.equals(at, key)) {
                throw failure;
            }
            return super.get(from, at);
        }

        @Override
        public Cursor scan(Family of, byte[] from, byte[] to) throws IOException {
            if (of == Family.VERSION && (hidesVersions || Arrays.equals(hiddenVersion, from))) {
                throw badBlock();
            }
            return super.scan(of, from, to);
        }

        @Override
        protected void commit(Batch batch) throws IOException {
            if (refusesCommits) {
                throw new WriteFailedException("the test refuses this commit", new IOException("bad cable"));
            }
            super.commit(batch);
        }

        @Override
        public long logBytes() throws IOException {
            return store.logBytes();
        }

        @Override
        public long changes() throws IOException {
            return store.changes();
        }
    }

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Unreadable metadata = new Unreadable(new CrashKeyValueStore());
    private final CrashDirectory data = new CrashDirectory(seed);
    private VolumeConfig config;
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        open();
    }

    private void open() throws IOException {
        volume = Volume.open(
                config,
                new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private byte[] random() {
        byte[] made = new byte[BYTES];
        random.nextBytes(made);
        return made;
    }

    private long store(String name, byte[] content) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        write(made.inode(), content);
        volume.sync();
        return made.inode();
    }

    private void write(long inode, byte[] content) throws IOException {
        write(inode, 0, content);
    }

    private void write(long inode, long offset, byte[] content) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(content));
        volume.close(file);
    }

    private byte[] read(long directory, String name) throws IOException {
        OpenFile file = volume.open(volume.lookup(directory, bytes(name)).inode(), false);
        try {
            ByteBuffer read = ByteBuffer.allocate(BYTES);
            volume.read(file, 0, read);
            return read.array();
        } finally {
            volume.close(file);
        }
    }

    private byte[] inSnapshot(String name) throws IOException {
        return read(TreeDigest.snapshotRoot(volume, "first"), name);
    }

    private List<String> problems() throws IOException {
        return VolumeChecker.check(volume);
    }

    private static IOException badBlock() {
        return new IOException("metadata database: While pread: Input/output error");
    }

    @Test
    void aPageInABadBlockIsLostForTheSnapshotAloneAndSaysSo() throws Exception {
        byte[] before = random();
        byte[] other = random();
        long inode = store("file", before);
        store("other", other);
        volume.snapshots().create("first", 0, false);
        byte[] after = random();
        metadata.fail(Family.RECIPE, Keys.of(inode, 0), badBlock());
        write(inode, after);
        volume.sync();
        metadata.heal();
        assertArrayEquals(after, read(Inode.ROOT, "file"), "the volume goes on");
        assertArrayEquals(other, inSnapshot("other"));
        CorruptionException lost = assertThrows(CorruptionException.class, () -> inSnapshot("file"));
        assertTrue(lost.getMessage().contains("could not be read when it was replaced"), lost.getMessage());
        String page = "page 0 of the recipe of inode " + inode + " in snapshot 1 is damaged";
        assertTrue(problems().contains(page), problems()::toString);

        byte[] version = VersionKeys.version(Kind.RECIPE, Keys.of(inode, 0), 2);
        MetadataDefects.remove(metadata, Family.VERSION, version);
        assertArrayEquals(new byte[BYTES], inSnapshot("file"), "the control: zeros, without the note");
    }

    @Test
    void aLostInodeSaysSoAndIsFreedWithItsSnapshot() throws Exception {
        long inode = store("file", random());
        volume.snapshots().create("first", 0, false);
        metadata.fail(Family.INODE, Keys.of(inode), badBlock());
        volume.change(inode, AttributeChange.ofMode(0600));
        volume.sync();
        metadata.heal();
        assertThrows(CorruptionException.class, () -> inSnapshot("file"));
        String damaged = "inode " + inode + " in snapshot 1 is damaged";
        assertEquals(List.of(damaged), problems());

        volume.snapshots().create("second", 0, false);
        volume.change(inode, AttributeChange.ofMode(0640));
        volume.sync();
        assertEquals(
                0600,
                volume.lookup(TreeDigest.snapshotRoot(volume, "second"), bytes("file"))
                                .mode()
                        & 0777,
                "a later snapshot has the later record");
        volume.snapshots().delete("first");
        volume.snapshots().freed().get();
        volume.sync();
        assertEquals(List.of(), problems());
    }

    /** A part of the disk that has the record and its versions. */
    @Test
    void versionsInABadBlockBesidesStopNoCommit() throws Exception {
        byte[] before = random();
        long inode = store("file", before);
        volume.snapshots().create("first", 0, false);
        volume.change(inode, AttributeChange.ofMode(0600));
        volume.sync();
        volume.snapshots().create("second", 0, false);
        metadata.fail(Family.INODE, Keys.of(inode), badBlock());
        metadata.hidesVersions = true;
        volume.change(inode, AttributeChange.ofMode(0640));
        volume.sync();
        assertTrue(volume.context().committer().isAccepting());
        metadata.hidesVersions = false;
        metadata.heal();
        assertArrayEquals(before, inSnapshot("file"), "the older version is taken");
        long second = TreeDigest.snapshotRoot(volume, "second");
        assertThrows(CorruptionException.class, () -> read(second, "file"));
        assertEquals(List.of("inode " + inode + " in snapshot 2 is damaged"), problems());
        for (String name : List.of("first", "second")) {
            volume.snapshots().delete(name);
        }
        volume.snapshots().freed().get();
        volume.sync();
        assertFalse(hasVersions());
        assertEquals(List.of(), problems());
    }

    /** Too few descriptors say nothing about the record: the commit fails, and is tried again. */
    @Test
    void whatCouldNotBeAskedForIsNoLoss() throws IOException {
        byte[] before = random();
        long inode = store("file", before);
        volume.snapshots().create("first", 0, false);
        metadata.fail(Family.RECIPE, Keys.of(inode, 0), new IOException("metadata database: Too many open files"));
        byte[] after = random();
        write(inode, after);
        assertThrows(IOException.class, volume::sync);
        assertFalse(volume.context().committer().isAccepting());
        metadata.heal();
        assertTrue(volume.context().committer().resume());
        assertArrayEquals(after, read(Inode.ROOT, "file"));
        assertArrayEquals(before, inSnapshot("file"));
        assertEquals(List.of(), problems());
    }

    @Test
    void aSymbolicLinkInABadBlockFailsNoCommit() throws Exception {
        Attributes link = volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("target"), OWNER);
        volume.sync();
        metadata.fail(Family.INODE, Keys.of(link.inode()), badBlock());
        volume.change(link.inode(), new AttributeChange(null, 7, 8, null, null, null, null));
        byte[] content = random();
        store("file", content);
        assertTrue(volume.context().committer().isAccepting());
        metadata.heal();
        remount();
        assertArrayEquals(content, read(Inode.ROOT, "file"));
        assertEquals(7, volume.lookup(Inode.ROOT, bytes("link")).uid(), "stored when it could be read");
        assertArrayEquals(bytes("target"), volume.readSymbolicLink(link.inode()));
        assertEquals(List.of(), problems());
    }

    /** What nobody can read stays stored until a repair; the rest of the snapshot is freed. */
    @Test
    void aVersionInABadBlockStopsNoFreeing() throws Exception {
        long lost = store("lost", random());
        long other = store("other", random());
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("lost"));
        volume.unlink(Inode.ROOT, bytes("other"));
        volume.forget(lost, 1);
        volume.forget(other, 1);
        volume.context().reaper().freed().get();
        volume.sync();
        byte[] version = VersionKeys.version(Kind.RECIPE, Keys.of(lost, 0), 2);
        metadata.fail(Family.VERSION, version, badBlock());
        metadata.hiddenVersion = version;
        assertEquals(BYTES, volume.snapshots().bytesFreedBy(List.of("first"), Progress.NONE), "as it says before");
        volume.snapshots().delete("first");
        volume.snapshots().freed().get();
        volume.sync();
        assertEquals(0, volume.snapshots().beingFreed());
        assertEquals(BYTES, volume.context().metadata().totals().stored().garbageBytes(), "what the other file had");
        metadata.heal();
        metadata.hiddenVersion = new byte[] {0};
        assertTrue(hasVersions());
        String left =
                "no snapshot has 1 of the versions of records that are kept for snapshots, and nothing frees them";
        assertEquals(List.of(left), problems());
    }

    /** Its own chunks stay stored until a repair counts again; what lies in other containers is freed. */
    @Test
    void damagedCountsOfOneContainerStopNoFreeing() throws Exception {
        long first = store("first", random());
        long damaged = containerOf(first);
        remount();
        store("second", random());
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("first"));
        volume.unlink(Inode.ROOT, bytes("second"));
        volume.sync();
        volume.close();
        byte[] counts = metadata.get(Family.COUNT, Keys.of(damaged));
        MetadataDefects.put(metadata, Family.COUNT, Keys.of(damaged), new byte[] {1, 5});
        open();
        volume.context().reaper().freed().get();
        assertEquals(BYTES, volume.snapshots().bytesFreedBy(List.of("first"), Progress.NONE), "as it says before");
        volume.snapshots().delete("first");
        volume.snapshots().freed().get();
        volume.sync();
        assertEquals(0, volume.snapshots().beingFreed());
        StoredCopies stored = volume.context().metadata().totals().stored();
        assertEquals(BYTES, stored.garbageBytes(), "what lies in the other container");
        volume.close();
        MetadataDefects.put(metadata, Family.COUNT, Keys.of(damaged), counts);
        open();
        assertFalse(problems().isEmpty(), "a check tells what was not counted");
    }

    /** As above, of a file without a name. */
    @Test
    void damagedCountsOfOneContainerStopNoRemoval() throws Exception {
        long inode = store("file", random());
        long damaged = containerOf(inode);
        remount();
        write(inode, BYTES, random());
        volume.close();
        MetadataDefects.put(metadata, Family.COUNT, Keys.of(damaged), new byte[] {1, 5});
        open();
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.context().reaper().freed().get();
        volume.sync();
        assertEquals(List.of(), volume.context().metadata().namespace().orphans());
        assertTrue(volume.context().metadata().totals().stored().garbageBytes() >= BYTES / 2);
    }

    /** Its garbage stays until a repair counts again; that of the others comes back. */
    @Test
    void damagedCountsOfOneContainerStopNoCollection() throws Exception {
        long first = store("first", random());
        long damaged = containerOf(first);
        remount();
        long second = store("second", random());
        volume.unlink(Inode.ROOT, bytes("first"));
        volume.unlink(Inode.ROOT, bytes("second"));
        volume.forget(second, 1);
        volume.context().reaper().freed().get();
        volume.sync();
        assertEquals(2 * BYTES, volume.context().metadata().totals().stored().garbageBytes());
        volume.close();
        byte[] counts = metadata.get(Family.COUNT, Keys.of(damaged));
        MetadataDefects.put(metadata, Family.COUNT, Keys.of(damaged), new byte[] {1, 5});
        open();
        CollectionReport report = collect();
        assertEquals(1, report.removed());
        assertEquals(1, report.keptContainers());
        assertTrue(report.returnedBytes() > BYTES / 2, report::toString);
        volume.close();
        MetadataDefects.put(metadata, Family.COUNT, Keys.of(damaged), counts);
        open();
        assertEquals(1, collect().removed());
        assertEquals(List.of(), problems());
    }

    private CollectionReport collect() throws IOException {
        return volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    /** Not only at the next mount. */
    @Test
    void afterAStopOfChangesFreeingGoesOn() throws Exception {
        long kept = store("kept", random());
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("kept"));
        volume.forget(kept, 1);
        long removed = store("removed", random());
        // More pages than closing the file frees at once.
        for (int page = 1; page < 2 * PAGES_AT_ONCE; page++) {
            write(removed, (long) page * volume.context().metadata().recipes().pageBytes(), bytes("page " + page));
        }
        volume.sync();
        OpenFile open = volume.open(removed, true);
        volume.unlink(Inode.ROOT, bytes("removed"));
        metadata.refusesCommits = true;
        assertThrows(IOException.class, () -> volume.snapshots().delete("first"));
        assertFalse(volume.context().committer().isAccepting());
        volume.close(open);
        volume.forget(removed, 1);
        volume.context().reaper().freed().get();
        assertEquals(1, volume.context().metadata().namespace().orphans().size(), "it is not freed while stopped");
        metadata.refusesCommits = false;
        assertTrue(volume.context().committer().resume());
        TestWait.until(() -> {
            volume.sync();
            return volume.context().metadata().namespace().orphans().isEmpty()
                    && volume.snapshots().beingFreed() == 0
                    && !hasVersions();
        });
        assertEquals(List.of(), problems());
    }

    /** The kernel takes the new length from the answer. After an error it keeps the former one, and shows zeros. */
    @Test
    void aFileWhoseTailCannotBeRemovedIsCutOffAllTheSame() throws Exception {
        byte[] content = random();
        long inode = store("file", content);
        write(inode, volume.context().metadata().recipes().pageBytes(), random());
        volume.close();
        byte[] key = Keys.of(inode, 1);
        byte[] damaged = metadata.get(Family.RECIPE, key).clone();
        damaged[damaged.length / 2]++;
        MetadataDefects.put(metadata, Family.RECIPE, key, damaged);
        open();
        byte[] left = Arrays.copyOf(Arrays.copyOf(content, 1000), BYTES);
        assertEquals(1000, volume.change(inode, AttributeChange.ofSize(1000)).size());
        assertArrayEquals(left, read(Inode.ROOT, "file"));
        IOException refused = assertThrows(IOException.class, () -> write(inode, BYTES, content));
        assertTrue(refused.getMessage().contains("old tail cannot be removed"), refused.getMessage());
        remount();
        assertEquals(1000, volume.attributes(inode).size());
        assertArrayEquals(left, read(Inode.ROOT, "file"));
    }

    private boolean hasVersions() throws IOException {
        try (var versions = PresentRecords.of(volume.context().metadata()).versions()) {
            return versions.next();
        }
    }

    private long containerOf(long inode) throws IOException {
        return ChunkId.container(
                volume.context().metadata().recipes().page(inode, 0).chunkId(0));
    }

    private void remount() throws IOException {
        volume.close();
        open();
    }
}
