package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.RollbackEffect;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.store.VolumeStores;

/** After a rollback the volume is as it was when the snapshot was made, and nothing that a snapshot has is lost. */
@Timeout(300)
class RollbackTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int ROUNDS = 12;
    private static final int CHANGES = 40;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private VolumeInMemory stores;
    private Volume volume;
    /** What the snapshots showed when they were made. */
    private final Map<String, Map<String, String>> made = new TreeMap<>();

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

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private Map<String, String> present() throws IOException {
        return TreeDigest.of(volume, Inode.ROOT);
    }

    private void snapshot(String name) throws IOException {
        volume.sync();
        made.put(name, present());
        volume.snapshots().create(name, 0, false);
    }

    private RollbackEffect rollBack(String name, @Nullable String before) throws IOException {
        RollbackEffect effect = volume.rollback().begin(name, before);
        if (random.nextBoolean()) {
            crash();
        } else {
            remount();
        }
        return effect;
    }

    private void assertIs(String snapshot) throws IOException {
        assertEquals(made.get(snapshot), present(), () -> snapshot + ", seed " + seed);
        for (Map.Entry<String, Map<String, String>> kept : made.entrySet()) {
            assertEquals(
                    kept.getValue(),
                    TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, kept.getKey())),
                    () -> kept.getKey() + " after a rollback to " + snapshot + ", seed " + seed);
        }
        assertSound();
    }

    private void assertSound() throws IOException {
        assertNull(volume.context().metadata().rollback());
        volume.context().reaper().freed().join();
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
        assertEquals(List.of(), PresentRecords.of(volume.context().metadata()).recountQuotas(), "seed " + seed);
        long bytes = volume.context().metadata().totals().logicalBytes();
        long taken = volume.quotas().states().stream()
                .filter(state -> state.id().kind() == QuotaId.Kind.USER)
                .mapToLong(QuotaState::bytes)
                .sum();
        assertEquals(bytes, taken, "what limits are compared with, seed " + seed);
        assertEquals(bytes, volume.context().capacity().takenBytes(), "seed " + seed);
    }

    /** Writes a file that is some pages long, and returns its inode number. */
    private long store(String name, int length) throws IOException {
        byte[] content = new byte[length];
        random.nextBytes(content);
        Attributes file = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        OpenFile open = volume.open(file.inode(), true);
        volume.write(open, 0, ByteBuffer.wrap(content));
        volume.close(open);
        volume.forget(file.inode(), 1);
        return file.inode();
    }

    @Test
    void theVolumeIsAsItWasWhicheverSnapshotIsChosen() throws Exception {
        RandomTree tree = new RandomTree(random);
        for (int round = 0; round < ROUNDS; round++) {
            tree.change(volume, CHANGES);
            snapshot("snapshot" + round);
            tree.change(volume, CHANGES);
            switch (random.nextInt(4)) {
                case 0 -> GarbageTrial.collect(volume, 0);
                case 1 -> volume.maintenance().join().run(JoinLimits.ALL, Progress.NONE);
                case 2 -> crash();
                default -> {}
            }
            String to = "snapshot" + random.nextInt(round + 1);
            String before = random.nextBoolean() ? "before" + round : null;
            Map<String, String> present = present();
            RollbackEffect effect = rollBack(to, before);
            if (before != null && !effect.isNone()) {
                made.put(before, present);
            }
            assertIs(to);
            assertEquals(
                    made.keySet(),
                    new TreeSet<>(volume.snapshots().list().stream()
                            .map(SnapshotRecord::name)
                            .toList()));
        }
        for (String name : made.keySet()) {
            volume.snapshots().delete(name);
        }
        volume.snapshots().freed().get();
        volume.sync();
        assertSound();
    }

    /** What was synced of a file is in the intent log then. */
    private void crash() throws IOException {
        Volume gone = volume;
        stores = stores.crash(random.nextLong());
        VolumeInMemory.abandon(gone);
        volume = stores.open();
    }

    @Test
    void aRollbackToAndFroEndsWhereItBegan() throws IOException {
        RandomTree tree = new RandomTree(random);
        tree.change(volume, CHANGES);
        snapshot("old");
        tree.change(volume, 3 * CHANGES);
        volume.sync();
        made.put("new", present());
        RollbackEffect forth = rollBack("old", "new");
        assertIs("old");
        RollbackEffect back = rollBack("new", null);
        assertIs("new");
        assertEquals(forth.backFiles(), back.goneFiles());
        assertEquals(forth.backBytes(), back.goneBytes());
        assertEquals(forth.goneFiles(), back.backFiles());
        assertEquals(forth.goneBytes(), back.backBytes());
        assertEquals(forth.changedFiles(), back.changedFiles());
        assertNotEquals(0, forth.changedFiles());
        rollBack("old", null);
        assertIs("old");
    }

    @Test
    void theEffectNamesWhatComesBackGoesAndChanges() throws IOException {
        store("stays", 5000);
        store("comes back", 300_000);
        long changes = store("changes", 1000);
        snapshot("s");
        volume.unlink(Inode.ROOT, bytes("comes back"));
        store("goes", 7000);
        volume.change(changes, AttributeChange.ofMode(0600));
        volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("goes"), OWNER);
        RollbackEffect effect = volume.rollback().effect("s");
        assertEquals(1, effect.backFiles());
        assertEquals(300_000, effect.backBytes());
        assertEquals(2, effect.goneFiles());
        assertEquals(7000, effect.goneBytes());
        // The root directory, too.
        assertEquals(2, effect.changedFiles());
        assertEquals(1000, effect.changedBytes());
        assertEquals(effect, rollBack("s", null));
        assertIs("s");
        assertEquals(0, volume.rollback().effect("s").records());
        assertTrue(rollBack("s", "not made").isNone());
        assertEquals(1, volume.snapshots().list().size());
    }

    /** A file that had no name when the snapshot was made does not come back, and nothing of it stays. */
    @Test
    void whatHadNoNameIsFreed() throws Exception {
        long removed = store("removed", 1_000_000);
        volume.setExtendedAttribute(removed, bytes("user.a"), bytes("b"), SetMode.CREATE_OR_REPLACE);
        Attributes unnamed = volume.makeUnnamed(Inode.ROOT, 0644, OWNER);
        OpenFile open = volume.open(removed, false);
        volume.unlink(Inode.ROOT, bytes("removed"));
        snapshot("s");
        volume.close(open);
        volume.forget(unnamed.inode(), 1);
        store("new", 100);
        volume.context().reaper().freed().get();
        rollBack("s", null);
        assertIs("s");
        assertNull(volume.context().metadata().namespace().inode(removed));
        assertNull(volume.context().metadata().namespace().inode(unnamed.inode()));
        assertEquals(List.of(), volume.context().metadata().namespace().orphans());
    }

    /** A file is removed, and a crash comes before it is freed: its orphan must not free what came back. */
    @Test
    void whatIsBeingFreedComesBackWhole() throws IOException {
        long file = store("file", 1_000_000);
        snapshot("s");
        OpenFile open = volume.open(file, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.commit();
        assertEquals(1, volume.context().metadata().namespace().orphans().size());
        volume.rollback().begin("s", "before");
        crash();
        assertTrue(open.node().id == file);
        made.put("before", new TreeMap<>(TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, "before"))));
        assertIs("s");
        remount();
        assertIs("s");
    }

    /** The tail of a truncated file that was not removed yet must not appear in a file that grows later. */
    @Test
    void theTailOfATruncatedFileGoes() throws IOException {
        long file = store("file", 1_000_000);
        volume.sync();
        Inode whole = volume.context().metadata().namespace().inode(file);
        // As a truncation leaves it between its two steps.
        volume.context().committer().changes().lock();
        try {
            int cut = volume.context().metadata().recipes().pageBytes() - 1000;
            volume.context().metadata().namespace().put(whole.withBytes(1000, whole.dataBytes() - cut));
            volume.context().metadata().recipes().truncatePage(file, 1000);
            volume.context().metadata().count(volume.context().metadata().account(whole), -cut, 0);
            volume.context().metadata().namespace().addOrphan(file, 1);
        } finally {
            volume.context().committer().changes().unlock();
        }
        volume.commit();
        remountByCrashAfterSnapshot();
        volume.change(file, AttributeChange.ofSize(0));
        volume.sync();
        rollBack("s", null);
        volume.change(file, AttributeChange.ofSize(1_000_000));
        OpenFile open = volume.open(file, false);
        ByteBuffer read = ByteBuffer.allocate(1_000_000);
        volume.read(open, 0, read);
        volume.close(open);
        for (int at = 1000; at < read.position(); at++) {
            assertEquals(0, read.get(at), "at " + at);
        }
        volume.sync();
        assertSound();
    }

    private void remountByCrashAfterSnapshot() throws IOException {
        volume.snapshots().create("s", 0, false);
        crash();
    }

    @Test
    void projectsComeBackWithTheirFoldersAndCountExactly() throws IOException {
        Attributes first = volume.makeDirectory(Inode.ROOT, bytes("first"), 0755, OWNER);
        volume.quotas().setFolder(first.inode(), limits -> new QuotaLimits(0, 1 << 20, 0, 100, 0), Progress.NONE);
        QuotaId project = new QuotaId(QuotaId.Kind.PROJECT, 1);
        volume.forget(
                volume.makeDirectory(first.inode(), bytes("in"), 0755, OWNER).inode(), 1);
        snapshot("s");
        volume.removeDirectory(first.inode(), bytes("in"));
        volume.removeDirectory(Inode.ROOT, bytes("first"));
        volume.forget(first.inode(), 1);
        // The number of the project is free, and used again.
        remount();
        Attributes second = volume.makeDirectory(Inode.ROOT, bytes("second"), 0755, OWNER);
        volume.quotas().setFolder(second.inode(), limits -> new QuotaLimits(0, 2 << 20, 0, 100, 0), Progress.NONE);
        volume.forget(second.inode(), 1);
        assertEquals(second.inode(), state(project).folder());
        rollBack("s", "before");
        made.put("before", TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, "before")));
        assertIs("s");
        assertEquals(first.inode(), state(project).folder());
        assertEquals(2, state(project).files());
        assertEquals(QuotaLimits.NONE, state(project).limits());
    }

    private QuotaState state(QuotaId id) throws IOException {
        return volume.context().metadata().quotas().state(id);
    }

    @Test
    void aRollbackThatCannotBeginChangesNothing() throws IOException {
        store("file", 100);
        snapshot("s");
        store("new", 100);
        volume.sync();
        Map<String, String> before = present();
        List<Reason> reasons = new ArrayList<>();
        for (List<String> names : List.of(List.of("unknown", "before"), List.of("s", "s"), List.of("s", "a/b"))) {
            PosixException refused =
                    assertThrows(PosixException.class, () -> volume.rollback().begin(names.get(0), names.get(1)));
            reasons.add(refused.reason());
        }
        assertEquals(List.of(Reason.ENOENT, Reason.EEXIST, Reason.EINVAL), reasons);
        remount();
        assertEquals(before, present());
        assertEquals(1, volume.snapshots().list().size());
    }

    /** The records of each family must change: one that stays as it was is noticed. SYSTEM stands for none. */
    @ParameterizedTest
    @EnumSource(names = {"SYSTEM", "INODE", "ENTRY", "XATTR", "RECIPE", "ORPHAN", "INTENT"})
    void controlAFamilyThatIsLeftOutIsNoticed(Family leftOut) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 4L << 30, Chunking.SHA256);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        CrashDirectory data = new CrashDirectory(seed);
        volume.close();
        Volume.create(config, data, metadata, InstantSource.system());
        volume = open(config, data, metadata);
        long removed = store("removed", 1_000_000);
        long changed = store("changed", 1_000_000);
        volume.setExtendedAttribute(changed, bytes("user.a"), bytes("old"), SetMode.CREATE_OR_REPLACE);
        snapshot("s");
        volume.setExtendedAttribute(changed, bytes("user.a"), bytes("new"), SetMode.CREATE_OR_REPLACE);
        volume.change(changed, AttributeChange.ofSize(400_000));
        // Still open, so it is being freed by the opening.
        OpenFile open = volume.open(removed, false);
        volume.unlink(Inode.ROOT, bytes("removed"));
        volume.commit();
        OpenFile logged = volume.open(changed, true);
        volume.write(logged, 500_000, ByteBuffer.wrap(bytes("in the intent log")));
        volume.sync(logged);
        volume.rollback().begin("s", null);
        CrashDirectory dataLeft = data.crash(seed);
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        VolumeInMemory.abandon(volume);
        assertEquals(removed, open.node().id);

        KeyValueStore forgetful = leftOut == Family.SYSTEM ? metadataLeft : without(leftOut, metadataLeft);
        List<String> problems = new ArrayList<>();
        volume = open(config, dataLeft, forgetful);
        try {
            volume.context().reaper().freed().join();
            problems.addAll(VolumeChecker.check(volume));
            if (!present().equals(made.get("s"))) {
                problems.add("it is not what it was");
            }
        } catch (IOException e) {
            problems.add(e.toString());
        }
        assertEquals(leftOut == Family.SYSTEM, problems.isEmpty(), problems::toString);
    }

    private static Volume open(VolumeConfig config, CrashDirectory data, KeyValueStore metadata) throws IOException {
        VolumeStores opened = new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, opened, Verification.CHECKSUMS);
    }

    private static KeyValueStore without(Family family, KeyValueStore store) {
        return proxy(
                KeyValueStore.class,
                store,
                (method, arguments) -> method.equals("batch")
                        ? proxy(Batch.class, store.batch(), (change, record) -> isOf(family, record) ? "" : null)
                        : null);
    }

    private static boolean isOf(Family family, Object @Nullable [] arguments) {
        return arguments != null && arguments[0] == family;
    }

    private interface Instead {
        /** Returns what a call returns instead; null: the call is made. */
        @Nullable
        Object of(String method, Object @Nullable [] arguments) throws IOException;
    }

    private static <T> T proxy(Class<T> type, T target, Instead instead) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Object result = instead.of(method.getName(), arguments);
                    try {
                        return result == null
                                ? method.invoke(target, arguments)
                                : method.getReturnType() == void.class ? null : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
