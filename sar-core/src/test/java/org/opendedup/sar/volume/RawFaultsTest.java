package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.volume.FileHistory.filled;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.repair.MetadataRepair;
import org.opendedup.sar.raw.AbsentRawFolder;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.store.LastBackingFiles;
import org.opendedup.sar.volume.store.VolumeStores;

/** Raw files on a fast tier that is full, fails, is gone, or has lost something. */
@Timeout(120)
class RawFaultsTest {
    private final VolumeConfig config =
            RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    private CrashDirectory data = new CrashDirectory(1);
    private CrashKeyValueStore metadata = new CrashKeyValueStore();
    private CrashRawFolder raw = new CrashRawFolder(1);
    private final HookedStores hooked = new HookedStores();
    private final FileHistory files = FileHistory.ofRawFiles();
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        Volume.create(config, data, metadata, InstantSource.system());
        open();
    }

    @AfterEach
    void close() throws IOException {
        raw.setGone(false);
        volume.close();
    }

    private void open() throws IOException {
        VolumeStores stores = new VolumeStores(
                        data,
                        hooked.hooked(metadata),
                        new HeapChunkIndex(),
                        InstantSource.system(),
                        RawStores.noCopies(),
                        null)
                .withRaw(identity -> hooked.hooked(raw.opener().open(identity)));
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
        files.use(volume);
    }

    private void remount() throws IOException {
        volume.close();
        open();
    }

    /** Cuts the power; the stores are what is left. */
    private void crash(long seed) throws IOException {
        CrashDirectory dataLeft = data.crash(seed);
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        CrashRawFolder rawLeft = raw.crash(seed);
        VolumeInMemory.abandon(volume);
        data = dataLeft;
        metadata = metadataLeft;
        raw = rawLeft;
    }

    /** Kills the daemon: the fast tier keeps all that was written. */
    private void abandonKeepingRawFiles(long seed) throws IOException {
        CrashDirectory dataLeft = data.crash(seed);
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        raw.setGone(true);
        VolumeInMemory.abandon(volume);
        raw.setGone(false);
        data = dataLeft;
        metadata = metadataLeft;
    }

    private FastTier.Place place(String name) throws IOException {
        return volume.fastTier().explain(files.inode(name)).place();
    }

    private void file(String name, byte[] bytes) throws IOException {
        files.make(name);
        files.append(name, bytes);
    }

    @Test
    void aNewFileBecomesChunksWhileTheFastTierIsFull() throws IOException {
        raw.setFull(true);
        file("a", filled(5_000, 1));
        assertEquals(FastTier.Place.CHUNKS, place("a"));
        assertEquals(List.of(), files.problems());
        remount();
        assertEquals(List.of(), files.problems());
    }

    @Test
    void filesAreRefusedWhileTheFastTierIsGoneAndComeBackWithIt() throws IOException {
        file("a", filled(5_000, 1));
        volume.close();
        raw.setGone(true);
        open();
        assertEquals(FastTier.Place.ABSENT, place("a"));
        assertThrows(IOException.class, () -> files.append("a", filled(1, 1)));
        file("b", filled(100, 2));
        assertEquals(FastTier.Place.CHUNKS, place("b"));
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
        raw.setGone(false);
        open();
        assertEquals(5_000, volume.attributes(files.inode("a")).size());
        assertEquals(FastTier.Place.FAST_TIER, place("a"));
    }

    /** The number of a lost backing file waits for its deletion, and must not be that of the next one. */
    @Test
    void aFileThatFellBackCanBecomeRawAgain() throws IOException {
        file("a", filled(5_000, 1));
        files.copy("a");
        files.store();
        raw.wipe();
        assertEquals(List.of(), files.problems());
        assertEquals(FastTier.Place.CHUNKS, place("a"));
        files.truncate("a", 0);
        files.append("a", filled(3_000, 2));
        assertEquals(FastTier.Place.FAST_TIER, place("a"));
        files.giveBack();
        assertEquals(List.of(), files.problems());
    }

    /** A file whose record a sync made durable is not taken for an empty one. */
    @Test
    void aSyncedFileThatTheFastTierLostIsNamed() throws IOException {
        file("a", filled(5_000, 1));
        files.sync("a");
        raw.wipe();
        remount();
        assertEquals(List.of("a"), volume.fastTier().lost());
        assertThrows(IOException.class, () -> files.append("a", filled(1, 1)));
        volume.unlink(Inode.ROOT, new byte[] {'a'});
    }

    /** The metadata are of before the file was synced, migrated and deleted from the fast tier. */
    @Test
    void aFileThatRestoredMetadataTakeForNewIsLostAndNotEmpty() throws IOException {
        file("a", filled(5_000, 1));
        volume.commit();
        CrashKeyValueStore backup = metadata.crash(1);
        abandonKeepingRawFiles(1);
        open();
        files.sync("a");
        files.migrate("a");
        files.giveBack();
        volume.close();
        metadata = backup;
        open();
        assertEquals(List.of("a"), volume.fastTier().lost());
        remount();
        assertEquals(List.of("a"), volume.fastTier().lost());
    }

    @Test
    void aDamagedRecordMakesItsFileUnreadableUntilARepairAndNoOther() throws IOException {
        file("damaged", filled(5_000, 1));
        file("sound", filled(5_000, 2));
        long inode = files.inode("damaged");
        volume.close();
        MetadataDefects.damageRaw(KeyValueStores.sealed(metadata, config.keys()), inode);
        open();
        IOException refused = assertThrows(IOException.class, () -> files.append("damaged", filled(1, 1)));
        assertTrue(refused.getMessage().contains("inode " + inode), refused::getMessage);
        assertThrows(IOException.class, () -> files.truncate("damaged", 0));
        assertThrows(
                CorruptionException.class,
                () -> volume.maintenance().forEachReference(inode, (at, chunk, from, length, prefix) -> {}));
        files.append("sound", filled(10, 3));
        assertEquals(2, raw.numbers().size(), "the backing file stays for a restore of the metadata");
        String problems = VolumeChecker.check(volume).toString();
        assertTrue(problems.contains("fast tier inode " + inode + " lies is damaged"), problems);
        volume.close();

        assertEquals(0, repaired(inode, () -> new AbsentRawFolder("no disk")), "the fast tier is needed");
        assertEquals(1, repaired(inode, () -> raw));
        open();
        assertEquals(FastTier.Place.FAST_TIER, place("damaged"));
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(5_000, volume.attributes(inode).size());
    }

    private long repaired(long inode, LastBackingFiles.Opener fastTier) throws IOException {
        MetadataRepair repair = new MetadataRepair(
                KeyValueStores.sealed(metadata, config.keys()), data, new LastBackingFiles(fastTier), 1);
        repair.rawDamaged(inode);
        return repair.finish();
    }

    /** The recipe is of an earlier copy, or a part of one: nothing of it is used before it is made anew. */
    @Test
    void aRepairedRecordDoesNotUseTheRecipe() throws IOException {
        file("a", filled(300_000, 1));
        files.copy("a");
        files.write("a", 1_000, filled(5_000, 2));
        files.truncate("a", 200_000);
        long inode = files.inode("a");
        volume.close();
        MetadataDefects.damageRaw(KeyValueStores.sealed(metadata, config.keys()), inode);
        assertEquals(1, repaired(inode, () -> raw));
        open();
        assertEquals(List.of(), files.problems());
        files.migrate("a");
        assertEquals(List.of(), files.problems());
        assertEquals(List.of(), VolumeChecker.check(volume));
        remount();
        assertEquals(List.of(), files.problems());
    }

    /** A crash brought back an earlier backing file of the inode. */
    @Test
    void aRepairTakesTheBackingFileThatWasChangedLast() throws IOException {
        file("a", filled(5_000, 1));
        long inode = files.inode("a");
        files.migrate("a");
        files.truncate("a", 0);
        files.append("a", filled(3_000, 2));
        assertEquals(2, raw.numbers().size());
        files.store();
        long number = new LastBackingFiles(() -> raw).last(inode);
        assertEquals(3_000, raw.status(number).size());
        assertEquals(LastBackingFiles.NONE, new LastBackingFiles(() -> raw).last(inode + 1));
    }

    /** The fast tier was exchanged: the file is what its recipe has. */
    @Test
    void aRepairGivesUpWhatTheFastTierDoesNotHave() throws IOException {
        file("a", filled(5_000, 1));
        long inode = files.inode("a");
        volume.close();
        MetadataDefects.damageRaw(KeyValueStores.sealed(metadata, config.keys()), inode);
        raw.wipe();
        assertEquals(1, repaired(inode, () -> raw));
        open();
        assertEquals(FastTier.Place.CHUNKS, place("a"));
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aFileWithADamagedRecordCanBeRemoved() throws Exception {
        file("damaged", filled(5_000, 1));
        long inode = files.inode("damaged");
        volume.close();
        MetadataDefects.damageRaw(KeyValueStores.sealed(metadata, config.keys()), inode);
        open();
        files.remove("damaged");
        volume.context().reaper().freed().get();
        remount();
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(List.of(), raw.numbers());
    }

    /** A commit that runs has taken the file's changes, and they are not durable. */
    @Test
    void aSyncWaitsForACommitThatRuns() throws Exception {
        file("a", filled(5_000, 1));
        files.store();
        files.store();
        OpenFile file = volume.open(files.inode("a"), true);
        volume.sync(file);
        assertFalse(volume.needsCommit(file));
        volume.link(file.inode(), Inode.ROOT, new byte[] {'l'});
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        hooked.hook = call -> {
            if (call.what().equals("commit")) {
                reached.countDown();
                try {
                    goesOn.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return call.proceed();
        };
        CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> {
            try {
                volume.commit();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        reached.await();
        assertTrue(volume.needsCommit(file));
        goesOn.countDown();
        commit.join();
        assertFalse(volume.needsCommit(file));
        volume.close(file);
    }

    @Test
    void aFastTierThatFailsDoesNotStopThePeriodicCommits() throws Exception {
        file("a", filled(5_000, 1));
        raw.setGone(true);
        long before = volume.context().committer().commits();
        // A commit without a change is none.
        files.make("b");
        while (volume.context().committer().commits() < before + 1) {
            Thread.sleep(50);
        }
        volume.context().committer().tick();
        raw.setGone(false);
        assertThrows(IOException.class, volume::sync, "it is told");
        files.sync("a");
        assertArrayEquals(filled(5_000, 1), files.content("a"));
        assertEquals(List.of(), files.problems());
    }

    /** The kernel reports a failed write-back once for each descriptor, and all who have the file open share one. */
    @Test
    void eachProgramThatHasAFileOpenHearsThatItsBytesWereNotWritten() throws IOException {
        file("a", filled(5_000, 1));
        OpenFile first = volume.open(files.inode("a"), true);
        OpenFile second = volume.open(files.inode("a"), true);
        failNextForce();
        assertThrows(IOException.class, () -> volume.sync(first));
        assertThrows(IOException.class, () -> volume.sync(second));
        OpenFile later = volume.open(files.inode("a"), true);
        volume.sync(later);
        for (OpenFile file : List.of(first, second, later)) {
            volume.close(file);
        }
    }

    /** What meets the failure first need not be the fsync of a program. */
    @Test
    void anFsyncHearsOfAFailureThatARenameOrACopyMet() throws IOException {
        for (String how : List.of("rename", "copy")) {
            file(how, filled(5_000, 1));
            files.make("replaced by " + how);
            long inode = volume.lookup(Inode.ROOT, how.getBytes(UTF_8)).inode();
            failNextForce();
            assertThrows(IOException.class, () -> {
                if (how.equals("copy")) {
                    files.copy(how);
                } else {
                    volume.rename(
                            Inode.ROOT,
                            how.getBytes(UTF_8),
                            Inode.ROOT,
                            ("replaced by " + how).getBytes(UTF_8),
                            RenameMode.REPLACE);
                }
            });
            OpenFile file = volume.open(inode, false);
            assertThrows(IOException.class, () -> volume.sync(file), how);
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    private void failNextForce() {
        AtomicBoolean hasFailed = new AtomicBoolean();
        hooked.hook = call -> {
            if (call.isOfRawFiles() && call.what().equals("force") && hasFailed.compareAndSet(false, true)) {
                throw new IOException("Input/output error");
            }
            return call.proceed();
        };
    }

    /** As Linux does: a sync after one that failed succeeds, though nothing became durable. */
    @Test
    void aSyncThatFailedInTheBackgroundIsToldByTheNextOneOfAll() throws IOException {
        file("a", filled(5_000, 1));
        raw.failNextSync();
        volume.context().committer().tick();
        assertThrows(IOException.class, volume::secureAll);
        volume.sync();
        raw.failNextSync();
        file("b", filled(5_000, 1));
        assertThrows(IOException.class, volume::sync);
        volume.sync();
    }

    @Test
    void aFileThatAFailedSyncMayHaveLostDoesNotReplaceAnother() throws IOException {
        file("old", filled(5_000, 1));
        volume.sync();
        file("new", filled(5_000, 2));
        raw.failNextSync();
        volume.context().committer().tick();
        volume.context().committer().tick();
        assertThrows(IOException.class, () -> files.rename("new", "old"));
        assertThrows(IOException.class, volume::sync);
    }

    /** A file stays what it is while it is open. */
    @Test
    void aFileThatIsTooLongForTheFastTierIsStoredInChunksWhenItIsClosed() throws Exception {
        raw.setMaxFileBytes(10_000);
        List<GrowingCall> calls = List.of(
                file -> volume.change(file.inode(), AttributeChange.ofSize(10_001)),
                file -> volume.write(file, 10_000, ByteBuffer.allocate(1)),
                file -> volume.allocate(file, 9_000, 1_001, false));
        for (GrowingCall call : calls) {
            String name = "file" + calls.indexOf(call);
            file(name, filled(5_000, 1));
            OpenFile file = volume.open(files.inode(name), true);
            PosixException refused = assertThrows(PosixException.class, () -> call.grow(file));
            assertEquals(PosixException.Reason.EFBIG, refused.reason());
            assertEquals(FastTier.Place.FAST_TIER, place(name));
            volume.close(file);
            while (place(name) != FastTier.Place.CHUNKS) {
                Thread.sleep(50);
            }
            assertEquals(List.of(), files.problems());
            files.truncate(name, 0);
            files.write(name, 20_000, filled(1, 2));
            assertEquals(FastTier.Place.CHUNKS, place(name), "it does not begin there again");
        }
        file("other", filled(10_000, 1));
        assertEquals(FastTier.Place.FAST_TIER, place("other"), "the control: one that fits stays");
        assertEquals(List.of(), files.problems());
    }

    /** A fast tier that fails while the volume is opened keeps nobody from the rest of the volume. */
    @Test
    void aFailureWhileTheVolumeIsOpenedDoesNotKeepItClosed() throws IOException {
        file("a", filled(5_000, 1));
        files.sync("a");
        files.make("new");
        files.store();
        for (int calls = 0; calls < 10; calls++) {
            volume.close();
            raw.failAfter(calls);
            open();
            assertEquals(5_000, volume.attributes(files.inode("a")).size(), "call " + calls);
            raw.failAfter(Long.MAX_VALUE);
        }
        remount();
        assertEquals(List.of(), files.problems());
    }

    /** A power cut took a new, empty file, which the full fast tier has no place for now. */
    @Test
    void aNewFileThatAFullFastTierLostDoesNotKeepTheVolumeClosed() throws IOException {
        files.make("new");
        files.append("new", new byte[0]);
        volume.context().committer().commit();
        crash(1);
        raw.wipe();
        raw.setFull(true);
        open();
        file("other", filled(100, 1));
        raw.setFull(false);
        remount();
        files.append("new", filled(10, 1));
        assertEquals(List.of(), files.problems());
    }

    /**
     * A power cut after an fsync may leave bytes that took the place of others with the time of the earlier ones, which
     * the recipe has.
     */
    @ParameterizedTest(name = "crash {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void syncedBytesAreMigratedAlsoIfTheirTimeWasLost(long seed) throws IOException {
        file("a", filled(5_000, 1));
        files.copy("a");
        files.store();
        files.write("a", 1_000, filled(100, 2));
        files.sync("a");
        crash(seed);
        open();
        assertEquals(List.of(), files.problems());
        files.migrate("a");
        assertEquals(List.of(), files.problems());
    }

    /** What a daemon that was killed had accepted is not durable, and the next mount shows it. */
    @ParameterizedTest(name = "crash {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void aSyncAfterAKillMakesDurableWhatWasWrittenBefore(long seed) throws IOException {
        file("a", filled(5_000, 1));
        files.store();
        files.write("a", 1_000, filled(3_000, 2));
        abandonKeepingRawFiles(seed);
        open();
        assertEquals(List.of(), files.problems());
        files.syncAll();
        crash(seed);
        open();
        assertEquals(List.of(), files.problemsAfterCrash());
    }

    /** What an opening found just before a folder's attribute was changed is not remembered. */
    @Test
    void aPlacementThatIsChangedWhileItIsLookedUpHoldsForTheNextFile() throws Exception {
        Owner owner = new Owner(0, 0);
        long folder =
                volume.makeDirectory(Inode.ROOT, new byte[] {'d'}, 0700, owner).inode();
        setPlacement(folder, Placement.TDDFS);
        remount();
        AtomicBoolean isChanged = new AtomicBoolean();
        hooked.hook = call -> {
            Object found = call.proceed();
            if (call.what().equals("get")
                    && call.arguments()[0] == KeyValueStore.Family.XATTR
                    && new String((byte[]) call.arguments()[1], StandardCharsets.ISO_8859_1)
                            .endsWith(Placement.ATTRIBUTE)
                    && isChanged.compareAndSet(false, true)) {
                CompletableFuture.runAsync(() -> setPlacement(folder, Placement.SAR))
                        .orTimeout(10, TimeUnit.SECONDS)
                        .join();
            }
            return found;
        };
        assertEquals(FastTier.Place.FAST_TIER, placeOfNew(folder, owner, 'a'), "control: it was opened before");
        assertTrue(isChanged.get());
        assertEquals(FastTier.Place.CHUNKS, placeOfNew(folder, owner, 'b'));
    }

    private void setPlacement(long folder, Placement placement) {
        byte[] value = placement.toString().getBytes(StandardCharsets.US_ASCII);
        byte[] name = Placement.ATTRIBUTE.getBytes(StandardCharsets.US_ASCII);
        try {
            volume.setExtendedAttribute(folder, name, value, SetMode.CREATE_OR_REPLACE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private FastTier.Place placeOfNew(long folder, Owner owner, char name) throws IOException {
        long inode = volume.makeNode(folder, new byte[] {(byte) name}, 0100644, 0, owner)
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.allocate(100));
        volume.close(file);
        return volume.fastTier().explain(inode).place();
    }

    private interface GrowingCall {
        void grow(OpenFile file) throws IOException;
    }
}
