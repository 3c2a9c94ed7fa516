package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;
import org.opendedup.sar.volume.store.VolumeStores;

/** Snapshots show what the volume showed when they were made, whatever happens to it afterwards. */
@Timeout(300)
class SnapshotTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int ROUNDS = 15;
    private static final int CHANGES = 40;
    private static final int MOST_SNAPSHOTS = 6;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private VolumeInMemory stores;
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256), seed);
        volume = stores.open();
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private void remount() throws IOException {
        volume.close();
        volume = stores.open();
    }

    private void store(String name, String content) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(bytes(content)));
        volume.close(file);
        volume.forget(made.inode(), 1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private Map<String, String> present() throws IOException {
        return TreeDigest.of(volume, Inode.ROOT);
    }

    private Map<String, String> in(String snapshot) throws IOException {
        return TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, snapshot));
    }

    private void awaitFreed() throws Exception {
        volume.snapshots().freed().get();
        volume.sync();
    }

    @Test
    void aSnapshotKeepsWhatIsChangedAndRemovedAfterwards() throws Exception {
        store("changed", "before");
        store("removed", "gone");
        Map<String, String> before = present();
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("removed"));
        Attributes changed = volume.lookup(Inode.ROOT, bytes("changed"));
        OpenFile file = volume.open(changed.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(bytes("after, and longer")));
        volume.close(file);
        store("new", "born later");
        assertEquals(before, in("first"));
        volume.sync();
        assertEquals(before, in("first"));
        remount();
        assertEquals(before, in("first"));
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.snapshots().delete("first");
        awaitFreed();
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(Reason.ENOENT, reason(() -> in("first")));
    }

    private static Reason reason(org.junit.jupiter.api.function.Executable refused) {
        return assertThrows(PosixException.class, refused).reason();
    }

    @Test
    void nothingInASnapshotChanges() throws IOException {
        store("file", "content");
        volume.snapshots().create("fixed", 0, false);
        long root = TreeDigest.snapshotRoot(volume, "fixed");
        Attributes file = volume.lookup(root, bytes("file"));
        assertEquals(Reason.EROFS, reason(() -> volume.open(file.inode(), true)));
        assertEquals(Reason.EROFS, reason(() -> volume.change(file.inode(), AttributeChange.ofSize(0))));
        assertEquals(Reason.EROFS, reason(() -> volume.unlink(root, bytes("file"))));
        assertEquals(Reason.EROFS, reason(() -> volume.makeNode(root, bytes("new"), 0100644, 0, OWNER)));
        assertEquals(Reason.EROFS, reason(() -> volume.makeUnnamed(root, 0644, OWNER)));
        assertEquals(Reason.EROFS, reason(() -> volume.link(file.inode(), Inode.ROOT, bytes("link"))));
        assertEquals(
                Reason.EROFS,
                reason(() -> volume.rename(root, bytes("file"), Inode.ROOT, bytes("new"), RenameMode.REPLACE)));
        assertEquals(
                Reason.EROFS,
                reason(() -> volume.setExtendedAttribute(
                        file.inode(), bytes("user.a"), bytes("b"), SetMode.CREATE_OR_REPLACE)));
        assertEquals(Reason.EROFS, reason(() -> volume.removeDirectory(Inode.ROOT, bytes(".snapshots"))));
        assertEquals(Reason.EEXIST, reason(() -> volume.makeDirectory(Inode.ROOT, bytes(".snapshots"), 0755, OWNER)));
        volume.dropCapability(file.inode());
        Limits limits = new Limits(0, false);
        assertEquals(
                Reason.EROFS,
                reason(() -> volume.maintenance().defragment(file.inode(), DiskModel.HDD, limits, Progress.NONE)));
        volume.forget(file.inode(), 1);
    }

    @Test
    void theFolderOfSnapshotsListsThemAndIsNotListed() throws IOException {
        volume.snapshots().create("one", 0, false);
        volume.snapshots().create("two", 0, false);
        assertEquals(List.of(".", ".."), names(Inode.ROOT));
        Attributes folderOfAll = volume.lookup(Inode.ROOT, bytes(".snapshots"));
        assertEquals(List.of(".", "..", "one", "two"), names(folderOfAll.inode()));
        volume.snapshots().delete("one");
        assertEquals(List.of(".", "..", "two"), names(folderOfAll.inode()));
        // The kernel asks for an access list before it lets a user enter.
        assertNull(volume.extendedAttribute(folderOfAll.inode(), bytes("system.posix_acl_access")));
        assertEquals(List.of(), volume.extendedAttributes(folderOfAll.inode()));
        volume.forget(folderOfAll.inode(), 1);
    }

    private List<String> names(long directory) throws IOException {
        List<String> names = new ArrayList<>();
        volume.list(directory, 0, false, (name, inode, type, cookie, found) -> names.add(new String(name, ISO_8859_1)));
        return names;
    }

    @Test
    void whoReadsADeletedSnapshotIsTold() throws IOException {
        store("file", "content");
        volume.snapshots().create("old", 0, false);
        Attributes found = volume.lookup(TreeDigest.snapshotRoot(volume, "old"), bytes("file"));
        OpenFile file = volume.open(found.inode(), false);
        assertEquals(7, volume.read(file, 0, ByteBuffer.allocate(100)));
        volume.snapshots().delete("old");
        assertEquals(Reason.ESTALE, reason(() -> volume.read(file, 0, ByteBuffer.allocate(100))));
        volume.close(file);
        volume.forget(found.inode(), 1);
    }

    @Test
    void aHeldSnapshotIsNotDeletedAndItsTimeNotShortened() throws IOException {
        long until = System.currentTimeMillis() + 3_600_000;
        volume.snapshots().create("held", until, false);
        assertEquals(Reason.EPERM, reason(() -> volume.snapshots().delete("held")));
        assertEquals(Reason.EPERM, reason(() -> volume.snapshots().hold("held", until - 1)));
        volume.snapshots().hold("held", until + 1);
        remount();
        SnapshotRecord held = volume.snapshots().get("held");
        assertEquals(until + 1, held.heldUntilMs());
        assertEquals(Reason.EPERM, reason(() -> volume.snapshots().delete("held")));
    }

    @Test
    void snapshotsOfRandomChangesStayAsTheyWereWhileOthersAreDeleted() throws Exception {
        RandomTree tree = new RandomTree(random);
        Map<String, Map<String, String>> kept = new TreeMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            tree.change(volume, CHANGES);
            String name = "snapshot" + round;
            volume.sync();
            kept.put(name, present());
            volume.snapshots().create(name, 0, false);
            if (kept.size() > MOST_SNAPSHOTS) {
                String deleted = List.copyOf(kept.keySet()).get(random.nextInt(kept.size()));
                kept.remove(deleted);
                volume.snapshots().delete(deleted);
            }
            switch (random.nextInt(6)) {
                case 0 -> remount();
                case 1 -> GarbageTrial.collect(volume, 0);
                case 2 -> awaitFreed();
                case 3 -> volume.maintenance().join().run(JoinLimits.ALL, Progress.NONE);
                default -> {}
            }
            assertKept(kept, round);
        }
        for (String name : List.copyOf(kept.keySet())) {
            volume.snapshots().delete(name);
        }
        awaitFreed();
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
        assertEquals(0, versions(), "seed " + seed);
    }

    /** A clone shares the chunks, and survives the snapshot. */
    @Test
    void aSnapshotIsClonedAndCopiedByReference() throws Exception {
        RandomTree tree = new RandomTree(random);
        tree.change(volume, 3 * CHANGES);
        store("last", "content");
        Map<String, String> before = withoutTimesAndNumbers(present());
        volume.snapshots().create("first", 0, false);
        tree.change(volume, 3 * CHANGES);
        volume.sync();
        long root = TreeDigest.snapshotRoot(volume, "first");
        volume.maintenance().treeClone(Progress.NONE).run(root, Inode.ROOT, bytes("clone"));
        Attributes last = volume.lookup(root, bytes("last"));
        OpenFile source = volume.open(last.inode(), false);
        Attributes made = volume.makeNode(Inode.ROOT, bytes("copy"), 0100644, 0, OWNER);
        OpenFile copy = volume.open(made.inode(), true);
        assertEquals(7, volume.copy(source, 0, copy, 0, 100));
        volume.close(source);
        volume.close(copy);
        volume.snapshots().delete("first");
        awaitFreed();
        GarbageTrial.collect(volume, 0);
        assertEquals(List.of(), VolumeChecker.check(volume));
        Attributes clone = volume.lookup(Inode.ROOT, bytes("clone"));
        assertEquals(before, withoutTimesAndNumbers(TreeDigest.of(volume, clone.inode())), "seed " + seed);
        assertEquals("content", new String(GarbageTrial.read(volume, "copy"), ISO_8859_1));
        volume.forget(clone.inode(), 1);
        volume.forget(made.inode(), 1);
        volume.forget(last.inode(), 1);
    }

    /** A clone has inodes and change times of its own; of the root directory, nothing is compared. */
    private static Map<String, String> withoutTimesAndNumbers(Map<String, String> digest) {
        Map<String, String> shown = new TreeMap<>(digest);
        shown.remove("/");
        shown.replaceAll((path, line) -> line.replaceFirst("^inode \\d+", "").replaceFirst("\\d{15,} \\d{15,}", ""));
        return shown;
    }

    /**
     * What is said to be freed is what a collection finds as garbage afterwards, also of snapshots that are no range.
     */
    @Test
    void whatDeletingFreesIsKnownExactly() throws Exception {
        RandomTree tree = new RandomTree(random);
        for (int round = 0; round < 9; round++) {
            tree.change(volume, CHANGES);
            volume.snapshots().create("s" + round, 0, false);
        }
        // The only references to these chunks are versions of a file in two gaps, with a snapshot between them.
        byte[] content = GarbageTrial.text(random, 100_000);
        for (int round = 0; round < 5; round++) {
            if (round == 1 || round == 3) {
                GarbageTrial.store(volume, "again", content);
            }
            volume.snapshots().create("t" + round, 0, false);
            if (round == 1 || round == 3) {
                volume.unlink(Inode.ROOT, bytes("again"));
            }
        }
        tree.change(volume, CHANGES);
        volume.sync();
        long alone = 0;
        for (String name : List.of("t1", "t3")) {
            alone += volume.snapshots().bytesFreedBy(List.of(name), Progress.NONE);
        }
        List<String> left = new ArrayList<>(
                volume.snapshots().list().stream().map(SnapshotRecord::name).toList());
        Collections.shuffle(left, new Random(random.nextLong()));
        left.removeAll(List.of("t1", "t3"));
        List<List<String>> sets = List.of(
                List.of("t1", "t3"), left.subList(0, 1), left.subList(1, 4), left.subList(4, 8), left.subList(8, 12));
        for (List<String> set : sets) {
            awaitFreed();
            long garbage = volume.statistics().garbageBytes();
            long said = volume.snapshots().bytesFreedBy(set, Progress.NONE);
            if (set.contains("t1")) {
                assertTrue(said >= alone + content.length, "what two gaps share is freed with both: " + said);
            }
            for (String name : set) {
                volume.snapshots().delete(name);
            }
            awaitFreed();
            assertEquals(said, volume.statistics().garbageBytes() - garbage, set + ", seed " + seed);
        }
        assertEquals(List.of(), volume.snapshots().list());
        assertEquals(0, volume.snapshots().bytesFreedBy(List.of(), Progress.NONE));
    }

    @Test
    void noNameIsARange() {
        for (String name : List.of("a%b", "%", "a/b", "", "..")) {
            assertEquals(Reason.EINVAL, reason(() -> volume.snapshots().create(name, 0, false)), name);
        }
        assertEquals(List.of(), volume.snapshots().list());
    }

    /** A list of many snapshots must be able to stop computing. */
    @Test
    void computingWhatIsFreedIsStoppedByItsProgress() throws Exception {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, 100_000));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        assertThrows(
                InterruptedIOException.class,
                () -> volume.snapshots().bytesFreedBy(List.of("first"), (stage, done, of) -> {
                    throw new InterruptedIOException(stage);
                }));
    }

    /** The same with a database that does not keep versions is noticed. */
    @Test
    void controlVersionsThatAreLostAreMissed() throws IOException {
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        KeyValueStore forgetful = (KeyValueStore) Proxy.newProxyInstance(
                KeyValueStore.class.getClassLoader(),
                new Class<?>[] {KeyValueStore.class},
                (self, method, arguments) -> method.getName().equals("batch")
                        ? withoutVersions(metadata.batch())
                        : method.invoke(metadata, arguments));
        CrashDirectory data = new CrashDirectory(seed);
        VolumeConfig config = VolumeConfigs.in(folder, 4L << 30, Chunking.SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        VolumeStores opened = new VolumeStores(data, forgetful, new HeapChunkIndex(), InstantSource.system());
        volume.close();
        volume = Volume.open(config, opened, Verification.CHECKSUMS);
        store("file", "content");
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        // The root directory is among what was changed.
        assertEquals(Reason.ENOENT, reason(() -> in("first")));
        assertNotEquals(List.of(), VolumeChecker.check(volume));
    }

    private static Batch withoutVersions(Batch batch) {
        return (Batch) Proxy.newProxyInstance(
                Batch.class.getClassLoader(), new Class<?>[] {Batch.class}, (self, method, arguments) -> {
                    boolean isLost = method.getName().equals("put") && arguments[0] == Family.VERSION;
                    return isLost ? null : method.invoke(batch, arguments);
                });
    }

    private void assertKept(Map<String, Map<String, String>> kept, int round) throws IOException {
        for (Map.Entry<String, Map<String, String>> snapshot : kept.entrySet()) {
            String what = snapshot.getKey() + " after round " + round + ", seed " + seed;
            assertEquals(snapshot.getValue(), in(snapshot.getKey()), what);
        }
        assertEquals(List.of(), VolumeChecker.check(volume), "round " + round + ", seed " + seed);
    }

    private long versions() throws IOException {
        long count = 0;
        try (var versions = PresentRecords.of(volume.context().metadata()).versions()) {
            while (versions.next()) {
                count++;
            }
        }
        assertTrue(volume.snapshots().list().isEmpty());
        return count;
    }
}
