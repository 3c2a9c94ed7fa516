package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.volume.FileHistory.filled;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A fast tier whose calls do not return: what does not need it goes on, and what it has not said to be durable is not
 * taken for durable. In each control the protection is off, and what goes on otherwise waits.
 */
@Timeout(180)
class RawHangTest {
    /** The limit of an answer: it is exceeded in each test, so it is short. */
    private static final Duration SHORT = Duration.ofMillis(300);

    private static final Duration NONE = Duration.ofDays(1);
    /** How long a control looks at something that waits for the fast tier: it would wait for ever. */
    private static final long LOOK_MS = 300;

    private static final Set<String> ALL_CALLS = Set.of(
            "create",
            "open",
            "status",
            "delete",
            "isAtRest",
            "sync",
            "forEach",
            "usableBytes",
            "read",
            "write",
            "truncate",
            "force",
            "setModified");
    private static final int CRASHES = 40;

    private final long seed = TestSeed.next();
    private final VolumeConfig config =
            RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    private CrashDirectory data = new CrashDirectory(seed);
    private CrashKeyValueStore metadata = new CrashKeyValueStore();
    private CrashRawFolder raw = new CrashRawFolder(seed);
    private final HookedStores hooked = new HookedStores();
    private final FileHistory files = FileHistory.ofRawFiles();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    /** Calls of the fast tier that do not return. Guarded by the test. */
    private Set<String> hanging = Set.of();
    /** Number of calls that have not returned. Guarded by the test. */
    private int waiting;

    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        hooked.hook = this::around;
        Volume.create(config, data, metadata, InstantSource.system());
    }

    @AfterEach
    void close() throws IOException {
        answer();
        threads.shutdown();
        if (volume != null) {
            VolumeInMemory.abandon(volume);
        }
    }

    private Object around(Call call) throws IOException {
        if (call.isOfRawFiles()) {
            awaitAnswer(call.what());
        }
        return call.proceed();
    }

    private synchronized void awaitAnswer(String what) throws IOException {
        waiting++;
        notifyAll();
        try {
            while (hanging.contains(what)) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        } finally {
            waiting--;
        }
    }

    private synchronized void hang(Set<String> calls) {
        hanging = calls;
    }

    private synchronized void answer() {
        hanging = Set.of();
        notifyAll();
    }

    /** Waits until the given number of calls of the fast tier hang. */
    private synchronized void awaitHanging(int calls) throws InterruptedException {
        while (waiting < calls) {
            wait();
        }
    }

    private RawFolder.Opener opener(Duration limit) {
        return new RawFolder.Opener() {
            @Override
            public RawFolder open(UUID id) throws IOException {
                awaitAnswer("open");
                return hooked.hooked(raw);
            }

            @Override
            public Duration answerLimit() {
                return limit;
            }
        };
    }

    /** Cuts the power; the stores are what is left. */
    private void crash() throws IOException {
        CrashDirectory dataLeft = data.crash(seed);
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        CrashRawFolder rawLeft = raw.crash(seed);
        VolumeInMemory.abandon(volume);
        volume = null;
        data = dataLeft;
        metadata = metadataLeft;
        raw = rawLeft;
    }

    private Volume opened(CrashDirectory directory, CrashKeyValueStore database, RawFolder.Opener opener)
            throws IOException {
        VolumeStores stores = new VolumeStores(
                        directory, database, new HeapChunkIndex(), InstantSource.system(), RawStores.noCopies(), null)
                .withRaw(opener);
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private void open(Duration limit) throws IOException {
        volume = opened(data, metadata, opener(limit));
        files.use(volume);
    }

    /** Makes a raw file "a" that was never synced, and a file "chunks". */
    private void makeFiles() throws IOException {
        files.make("chunks");
        files.append("chunks", filled(3_000, 1));
        files.migrate("chunks");
        files.make("a");
        files.append("a", filled(5_000, 2));
    }

    private FastTier.Place place(String name) throws IOException {
        return volume.fastTier().explain(files.inode(name)).place();
    }

    private Future<?> run(Closing.Step step) {
        return threads.submit(() -> {
            step.run();
            return null;
        });
    }

    /** Returns whether something ends; if it does not, it has been looked at for a while. */
    private static boolean ends(Future<?> running) throws Exception {
        try {
            running.get(LOOK_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** Lets a sync of the fast tier hang, and waits until the volume knows. */
    private void hangInSync() throws Exception {
        hang(Set.of("sync"));
        volume.context().committer().tick();
        assertNotNull(volume.fastTier().summary().hanging());
    }

    @Test
    void commitsGoOnWhileASyncHangs() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        files.append("chunks", filled(100, 3));
        long before = volume.context().committer().commits();
        volume.context().committer().tick();
        assertTrue(volume.context().committer().commits() > before);
        files.sync("chunks");
        files.sync("a");
        assertThrows(IOException.class, volume::sync);
        assertThrows(IOException.class, volume::secureAll);
        assertEquals(List.of(), files.problems());
    }

    @Test
    void controlWithoutALimitACommitWaitsForTheSync() throws Exception {
        open(NONE);
        makeFiles();
        hang(Set.of("sync"));
        Future<?> commit = run(volume.context().committer()::tick);
        assertFalse(ends(commit));
        answer();
        commit.get();
    }

    /** What {@code Volume.sync} cannot do for raw files it does for all others. */
    @Test
    void aSyncOfTheVolumeStoresOtherFilesWhileTheFastTierHangs() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        files.append("chunks", filled(100, 3));
        assertThrows(IOException.class, volume::sync);
        for (int crash = 0; crash < CRASHES; crash++) {
            try (Volume left = crashed(crash)) {
                files.use(left);
                assertEquals(3_100, left.attributes(files.inode("chunks")).size());
            }
        }
    }

    @Test
    void itIsTold() throws Exception {
        open(SHORT);
        makeFiles();
        assertNull(volume.fastTier().status().hanging());
        hangInSync();
        FastTier.Status status = volume.fastTier().status();
        assertTrue(status.hanging().startsWith("making written files durable has taken "), status::hanging);
        assertEquals(1, status.files());
        assertFalse(status.room());
        assertEquals(List.of(), volume.fastTier().lost());
        answer();
        awaitAnswers();
        assertTrue(volume.fastTier().status().room());
    }

    /** The call returns in a thread of its own. */
    private void awaitAnswers() throws InterruptedException {
        while (volume.fastTier().summary().hanging() != null) {
            Thread.sleep(1);
        }
    }

    /** The command that tells the state may be the first one to meet the hang. */
    @Test
    void theStateIsToldWhenTheLookAtTheFilesHangs() throws Exception {
        open(SHORT);
        makeFiles();
        files.copy("a");
        files.make("b");
        files.append("b", filled(10, 3));
        hang(Set.of("status"));
        FastTier.Status status = volume.fastTier().status();
        assertTrue(status.hanging().startsWith("examining files has taken "), status::hanging);
        assertEquals(1, status.onlyThereFiles());
        assertEquals(0, volume.fastTier().lostFiles());
    }

    @Test
    void newFilesAreStoredInChunksUntilItAnswers() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        files.make("new");
        files.append("new", filled(1_000, 4));
        assertEquals(FastTier.Place.CHUNKS, place("new"));
        answer();
        awaitAnswers();
        files.make("newer");
        files.append("newer", filled(1_000, 5));
        assertEquals(FastTier.Place.FAST_TIER, place("newer"));
        files.store();
        assertEquals(List.of(), files.problems());
        for (int crash = 0; crash < CRASHES; crash++) {
            try (Volume left = crashed(crash)) {
                files.use(left);
                assertEquals(List.of(), files.problems());
            }
        }
    }

    /** Opens what a power cut now may leave, with a fast tier that answers. The volume itself has no power any more. */
    private Volume crashed(int crash) throws IOException {
        long chosen = seed + crash;
        return opened(
                data.crash(chosen), metadata.crash(chosen), raw.crash(chosen).opener());
    }

    /** Returns the files that some power cut loses although no call said that it would not. */
    private List<String> lostByCrashes() throws IOException {
        List<String> lost = new ArrayList<>();
        for (int crash = 0; crash < CRASHES; crash++) {
            try (Volume left = crashed(crash)) {
                lost.addAll(left.fastTier().lost());
                lost.addAll(VolumeChecker.check(left));
            }
        }
        return lost;
    }

    /** Writes to a file that was migrated; what is stored of that next goes to the fast tier. */
    private void changeChunks(int value) throws IOException {
        files.write("chunks", 1_000, filled(500, value));
    }

    private long changedBytes() throws IOException {
        return volume.fastTier().explain(files.inode("chunks")).changedBytes();
    }

    /** Bytes that cannot be written to the fast tier in time are stored in chunks; no backing file stays behind. */
    @Test
    void changedBytesAreStoredInChunksWhenTheFastTierHangs() throws Exception {
        for (String call : List.of("create", "write", "force")) {
            open(SHORT);
            makeFiles();
            long parts = parts();
            changeChunks(3);
            hang(Set.of(call));
            volume.context().writer().storeEverything();
            assertEquals(0, changedBytes(), call);
            volume.commit();
            assertNotNull(volume.fastTier().summary().hanging());
            assertEquals(List.of(), files.problems(), call);
            answer();
            awaitAnswers();
            TestWait.until(() -> parts() == parts);
            assertEquals(List.of(), files.problems(), call);
            files.remove("a");
            files.remove("chunks");
            volume.close();
        }
    }

    private long parts() {
        return raw.numbers().stream().filter(RawNumbers::isPart).count();
    }

    /**
     * A backup takes its metadata between writes, so it waits for one that is under way. In the control there is no
     * backup, and the next write is made beside it: a backup that let it pass would wait for as long as anybody writes.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBackupWaitsForNoWriteThatBeginsAfterIt(boolean backsUp) throws Exception {
        open(NONE);
        makeFiles();
        files.make("next");
        files.append("next", filled(3_000, 3));
        files.migrate("next");
        changeChunks(4);
        files.write("next", 1_000, filled(500, 5));
        hang(Set.of("write"));
        Future<?> first = run(() -> storeOne("chunks"));
        awaitHanging(1);
        Future<?> backup = run(() -> {
            if (backsUp) {
                volume.context().changes().holdDuring(() -> true);
            }
        });
        if (backsUp) {
            assertFalse(ends(backup));
        } else {
            backup.get();
        }
        Future<?> second = run(() -> storeOne("next"));
        if (backsUp) {
            second.get();
        } else {
            assertFalse(ends(second));
        }
        answer();
        first.get();
        second.get();
        backup.get();
        assertEquals(500, changedBytes());
        assertEquals(List.of(), files.problems());
    }

    private void storeOne(String name) throws IOException {
        Node node = volume.context().nodes().pin(files.inode(name));
        try {
            volume.context().writer().storeTogether(List.of(node));
        } finally {
            volume.context().nodes().unpin(node);
        }
    }

    /** The same in place: what the hanging call writes later is not what the file has. */
    @Test
    void changedBytesThatAreChangedAgainAreStoredInChunksWhenTheFastTierHangs() throws Exception {
        open(SHORT);
        makeFiles();
        files.sync("a");
        changeChunks(3);
        volume.context().writer().storeEverything();
        assertEquals(500, changedBytes());
        changeChunks(4);
        hang(Set.of("write"));
        volume.context().writer().storeEverything();
        assertEquals(0, changedBytes());
        changeChunks(5);
        volume.context().writer().storeEverything();
        volume.commit();
        answer();
        awaitAnswers();
        assertEquals(List.of(), files.problems());
        for (int crash = 0; crash < CRASHES; crash++) {
            try (Volume left = crashed(crash)) {
                files.use(left);
                assertEquals(List.of(), files.problemsAfterCrash());
            }
        }
    }

    @Test
    void aChangedFileIsOpenedAndReadBesideItsChangesWhileTheFastTierHangs() throws Exception {
        open(SHORT);
        makeChanges();
        OpenFile opened = volume.open(files.inode("chunks"), false);
        assertEquals(1_000, volume.read(opened, 0, ByteBuffer.allocate(1_000)));
        volume.close(opened);
        assertNotNull(volume.fastTier().summary().hanging());
        answer();
        awaitAnswers();
        assertEquals(List.of(), files.problems());
    }

    @Test
    void controlWithoutALimitTheOpeningOfAChangedFileWaits() throws Exception {
        open(NONE);
        makeChanges();
        Future<?> opening = run(() -> volume.close(volume.open(files.inode("chunks"), false)));
        assertFalse(ends(opening));
        answer();
        opening.get();
    }

    /** Makes a file with changed bytes; a look at its backing file hangs. */
    private void makeChanges() throws Exception {
        makeFiles();
        changeChunks(3);
        volume.context().writer().storeEverything();
        assertEquals(500, changedBytes());
        hang(Set.of("status"));
    }

    @Test
    void commitsGoOnWhileTheMigrationOfChangedBytesHangs() throws Exception {
        open(SHORT);
        Future<?> migration = hangInMigration();
        run(volume.context().writer()::storeEverything).get();
        volume.commit();
        assertThrows(ExecutionException.class, migration::get);
        assertEquals(500, changedBytes());
        answer();
        awaitAnswers();
        assertEquals(List.of(), files.problems());
        files.migrate("chunks");
        assertEquals(0, changedBytes());
        assertEquals(List.of(), files.problems());
    }

    @Test
    void controlWithoutALimitACommitWaitsForTheMigrationOfChangedBytes() throws Exception {
        open(NONE);
        Future<?> migration = hangInMigration();
        Future<?> commit = run(volume.context().writer()::storeEverything);
        assertFalse(ends(commit));
        answer();
        commit.get();
        migration.get();
    }

    /** Lets the migration of changed bytes hang, and writes to their file meanwhile. */
    private Future<?> hangInMigration() throws Exception {
        makeFiles();
        changeChunks(3);
        volume.context().writer().storeEverything();
        assertEquals(500, changedBytes());
        hang(Set.of("read"));
        long inode = files.inode("chunks");
        Future<?> migration = run(() -> volume.fastTier().migrate(inode));
        awaitHanging(1);
        files.write("chunks", 0, filled(100, 4));
        return migration;
    }

    /** The file is locked until it is copied, which takes long also on a fast tier that answers. */
    @Test
    void commitsGoOnWhileAFileThatGotANameIsCopied() throws Exception {
        open(SHORT);
        makeFiles();
        volume.commit();
        long inode = files.inode("a");
        hang(Set.of("read"));
        Future<?> copy = run(() -> volume.fastTier().migrate(inode));
        awaitHanging(1);
        assertFalse(ends(copy));
        files.rename("a", "b");
        long before = volume.context().committer().commits();
        run(volume.context().committer()::tick).get(30, TimeUnit.SECONDS);
        assertTrue(volume.context().committer().commits() > before);
        assertFalse(copy.isDone());
        answer();
        copy.get();
        assertEquals(FastTier.Place.CHUNKS, place("b"));
        assertEquals(List.of(), files.problems());
    }

    /** A record says that a backing file is durable only when a sync has returned: docs/adr/0050. */
    @Test
    void noRecordSaysThatABackingFileIsDurableBeforeTheSyncReturns() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        volume.commit();
        assertTrue(onlyRaw().record().fresh());
        assertEquals(List.of(), lostByCrashes());
    }

    @Test
    void aSyncThatReturnsTooLateSaysNothing() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        RawFile made = onlyRaw();
        answer();
        awaitAnswers();
        assertTrue(made.record().fresh());
        volume.sync();
        assertFalse(made.record().fresh());
        assertEquals(List.of(), lostByCrashes());
    }

    private RawFile onlyRaw() {
        assertEquals(1, volume.context().raws().count());
        return volume.context().raws().all().iterator().next();
    }

    @Test
    void controlARecordThatSaysSoTooEarlyIsNoticed() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        volume.context().raws().record(onlyRaw(), RawRecord::withDurable);
        volume.commit();
        assertFalse(lostByCrashes().isEmpty());
    }

    /** Calls that ask a backing file hold no lock that others wait for. */
    @Test
    void otherCallsGoOnWhileCallsOfARawFileHang() throws Exception {
        open(SHORT);
        makeFiles();
        long inode = files.inode("a");
        hang(Set.of("status", "open", "force"));
        List<Future<?>> waits = List.of(
                run(() -> volume.attributes(inode)),
                run(() -> volume.change(inode, AttributeChange.ofMode(0600))),
                run(() -> volume.link(inode, Inode.ROOT, "link".getBytes(UTF_8))),
                run(() -> volume.open(inode, true)),
                run(() -> volume.rename(
                        Inode.ROOT, "a".getBytes(UTF_8), Inode.ROOT, "chunks".getBytes(UTF_8), RenameMode.REPLACE)));
        awaitHanging(waits.size());
        assertTrue(volume.fastTier().pin(inode, true));
        volume.commit();
        files.make("new");
        volume.unlink(Inode.ROOT, "new".getBytes(UTF_8));
        volume.commit();
        assertTrue(waits.stream().noneMatch(Future::isDone));
        answer();
        for (Future<?> each : waits) {
            each.get();
        }
    }

    /** What they must not hold: a change waits for it, and each commit for the change. */
    @Test
    void controlACommitWaitsForWhoHoldsTheMonitorOfARawFile() throws Exception {
        open(SHORT);
        makeFiles();
        RawFile held = onlyRaw();
        Future<?> pin;
        Future<?> commit;
        synchronized (held) {
            pin = run(() -> volume.fastTier().pin(held.inode(), true));
            assertFalse(ends(pin));
            commit = run(volume::commit);
            assertFalse(ends(commit));
        }
        pin.get();
        commit.get();
    }

    @Test
    void theVolumeCanBeClosed() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        hang(ALL_CALLS);
        Volume closed = volume;
        volume = null;
        IOException e = assertThrows(IOException.class, closed::close);
        assertTrue(e.getMessage().contains("does not answer"), e::getMessage);
        answer();
        open(SHORT);
        assertEquals(List.of(), files.problems());
    }

    @Test
    void aClosedVolumeLeavesNothingThatACrashLoses() throws Exception {
        open(SHORT);
        makeFiles();
        hangInSync();
        VolumeInMemory.abandon(volume);
        assertTrue(onlyRaw().record().fresh());
        assertEquals(List.of(), lostByCrashes());
    }

    @Test
    void controlWithoutALimitTheVolumeCannotBeClosed() throws Exception {
        open(NONE);
        makeFiles();
        hang(Set.of("sync"));
        Volume closed = volume;
        volume = null;
        Future<?> closing = run(closed::close);
        assertFalse(ends(closing));
        answer();
        closing.get();
    }

    /** Returns why the fast tier cannot be used after a mount while these calls hang. */
    private String absentAfterMount(Set<String> calls) throws IOException {
        hang(calls);
        open(SHORT);
        assertEquals(FastTier.Place.CHUNKS, place("chunks"));
        assertEquals(FastTier.Place.ABSENT, place("a"));
        String absent = volume.fastTier().summary().absent();
        volume.close();
        volume = null;
        answer();
        return absent;
    }

    @Test
    void theVolumeIsMountedWithoutAFastTierThatHangs() throws Exception {
        open(SHORT);
        makeFiles();
        volume.commit();
        // The record says that the backing file of "a" may not be durable: a mount looks for it.
        crash();
        assertEquals("opening the raw files did not end within 0 s", absentAfterMount(Set.of("open")));
        assertEquals("making lost files again did not end within 0 s", absentAfterMount(Set.of("status")));
        assertEquals("looking for files without a record did not end within 0 s", absentAfterMount(Set.of("forEach")));
        open(SHORT);
        assertEquals(List.of(), files.problemsAfterCrash());
    }

    @Test
    void controlWithoutALimitTheVolumeCannotBeMounted() throws Exception {
        hang(Set.of("open"));
        Future<?> opening = run(() -> open(NONE));
        assertFalse(ends(opening));
        answer();
        opening.get();
    }

    /**
     * Each look at the fast tier meets a change of names: then a look-up that waited for it would hold the next one.
     */
    @Test
    void aLookUpThatWaitsForTheFastTierHoldsNoChange() throws Exception {
        // The look ends when the change has ended, however long that takes.
        open(NONE);
        makeFiles();
        AtomicInteger changes = new AtomicInteger();
        AtomicInteger held = new AtomicInteger();
        Owner owner = new Owner(0, 0);
        hooked.hook = call -> {
            if (call.isOfRawFiles() && call.what().equals("status")) {
                byte[] name = ("d" + changes.incrementAndGet()).getBytes(UTF_8);
                Future<?> change = run(() -> volume.makeDirectory(Inode.ROOT, name, 0755, owner));
                try {
                    change.get(30, TimeUnit.SECONDS);
                } catch (TimeoutException e) {
                    held.incrementAndGet();
                } catch (Exception e) {
                    throw new IOException(e);
                }
            }
            return call.proceed();
        };
        volume.forget(volume.lookup(Inode.ROOT, "a".getBytes(UTF_8)).inode(), 1);
        assertTrue(changes.get() > 0);
        assertEquals(0, held.get(), "changes of names were held up");
    }
}
