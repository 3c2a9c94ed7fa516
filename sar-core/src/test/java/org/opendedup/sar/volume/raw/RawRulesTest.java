package org.opendedup.sar.volume.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.volume.FileHistory.filled;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
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
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.FileHistory;
import org.opendedup.sar.volume.HookedStores;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeInMemory;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Rules of raw files that a single thread hardly ever breaks: which small files are copied together, and what calls at
 * the same time wait for.
 */
@Timeout(120)
class RawRulesTest {
    private static final int REPETITIONS = 20;
    private static final int CRASHES = 60;
    /** How long to look at something that must wait. */
    private static final long LOOK_MS = 500;

    private static final HookedStores.Hook FORCE_DOES_NOTHING =
            call -> call.isOfRawFiles() && Set.of("force", "sync").contains(call.what()) ? null : call.proceed();

    private final long seed = TestSeed.next();
    private final VolumeConfig config =
            RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final CrashRawFolder raw = new CrashRawFolder(seed);
    private final HookedStores hooked = new HookedStores();
    private final FileHistory files = FileHistory.ofRawFiles();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        Volume.create(config, data, metadata, InstantSource.system());
        volume = open(data, metadata, raw);
        files.use(volume);
    }

    @AfterEach
    void close() {
        threads.shutdown();
        VolumeInMemory.abandon(volume);
    }

    private Volume open(CrashDirectory directory, CrashKeyValueStore database, CrashRawFolder folder)
            throws IOException {
        VolumeStores stores = new VolumeStores(
                        directory, database, new HeapChunkIndex(), InstantSource.system(), RawStores.noCopies(), null)
                .withRaw(id -> hooked.hooked(folder));
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private void file(String name, byte[] bytes) throws IOException {
        files.make(name);
        files.append(name, bytes);
    }

    private RawFile rawFile(String name) throws IOException {
        long inode = files.inode(name);
        return volume.context().raws().all().stream()
                .filter(file -> file.inode() == inode)
                .findAny()
                .orElseThrow();
    }

    /** Stores a file in chunks as one of many small ones, if the rules allow it. */
    private boolean copyTogether(String name) throws IOException {
        RawFile file = rawFile(name);
        RawBatch batch = volume.context().fastTier().newBatch();
        return volume.context().nodes().with(file.inode(), node -> {
            batch.add(node, file);
            boolean added = !batch.isEmpty();
            batch.store(bytes -> {});
            return added;
        });
    }

    @Test
    void smallFilesAreCopiedTogether() throws IOException {
        file("a", filled(100, 1));
        volume.sync();
        assertTrue(copyTogether("a"));
        assertEquals(
                FastTier.Place.BOTH, volume.fastTier().explain(files.inode("a")).place());
    }

    /** A change within the tick of the copy does not show in the time of the backing file. */
    @Test
    void aChangeWithinOneTickOfACopyTogetherIsNotLost() throws IOException {
        raw.setCoarse(true);
        changeAfterCopies();
        assertEquals(List.of(), files.problems());
    }

    @Test
    void controlChangesThatShowInNoTimeAreLost() throws IOException {
        hooked.hook = call -> {
            Object answer = call.proceed();
            return answer instanceof RandomFile.Status status
                    ? new RandomFile.Status(status.size(), status.allocatedBytes(), 1, 1)
                    : answer;
        };
        changeAfterCopies();
        assertEquals(REPETITIONS, files.problems().size());
    }

    private void changeAfterCopies() throws IOException {
        for (int i = 1; i <= REPETITIONS; i++) {
            String name = "file" + i;
            file(name, filled(100, i));
            volume.context().raws().syncWritten();
            copyTogether(name);
            // By the name: an opening for writing would say in the record that the recipe is of an earlier state.
            files.truncate(name, 0);
            files.truncate(name, 100);
            files.migrate(name);
        }
    }

    /** Else the file could be one thing on the fast tier after a power cut, and another one when it is migrated. */
    @Test
    void bytesThatAreNotDurableAreNotCopiedTogether() throws IOException {
        assertEquals(Set.of(), changedByMigrations(false));
    }

    @Test
    void controlBytesThatOnlySeemDurableChangeByAMigration() throws IOException {
        assertFalse(changedByMigrations(true).isEmpty());
    }

    private Set<String> changedByMigrations(boolean seemDurable) throws IOException {
        file("a", filled(5_000, 1));
        volume.sync();
        files.write("a", 0, filled(5_000, 2));
        if (seemDurable) {
            hooked.hook = FORCE_DOES_NOTHING;
            volume.context().raws().syncWritten();
        }
        copyTogether("a");
        volume.commit();
        Set<String> changed = new TreeSet<>();
        for (int crash = 0; crash < CRASHES; crash++) {
            long chosen = seed + crash;
            try (Volume left = open(data.crash(chosen), metadata.crash(chosen), raw.crash(chosen))) {
                files.use(left);
                var unusedDifferences = files.problemsAfterCrash();
                files.migrateAll();
                changed.addAll(files.problems());
            }
        }
        return changed;
    }

    private static boolean ends(Future<?> running) throws Exception {
        try {
            running.get(LOOK_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private Future<?> run(Closing.Step step) {
        return threads.submit(() -> {
            step.run();
            return null;
        });
    }

    /** The sync of another one has taken what this one wrote, and is not done. */
    @Test
    void aSyncWaitsForTheSyncOfAnotherCaller() throws Exception {
        file("a", filled(5_000, 1));
        // The control: nobody else syncs.
        run(volume.context().raws()::syncWritten).get();
        files.write("a", 0, filled(5_000, 2));
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        hooked.hook = call -> {
            if (call.isOfRawFiles() && call.what().equals("sync")) {
                reached.countDown();
                try {
                    goesOn.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return call.proceed();
        };
        Future<?> first = run(volume.context().raws()::syncWritten);
        reached.await();
        Future<?> second = run(volume.context().raws()::syncWritten);
        try {
            assertFalse(ends(second));
        } finally {
            goesOn.countDown();
        }
        first.get();
        second.get();
    }

    /** The kernel writes an open file without telling anybody. */
    @Test
    void aFileThatStaysOpenIsPartOfEachSync() throws IOException {
        assertEquals(0, lengthsLost());
    }

    @Test
    void controlASyncThatDoesNothingLosesLengths() throws IOException {
        hooked.hook = FORCE_DOES_NOTHING;
        assertTrue(lengthsLost() > 0);
    }

    private int lengthsLost() throws IOException {
        int lost = 0;
        files.make("a");
        OpenFile open = volume.open(files.inode("a"), true);
        for (int i = 1; i <= 3; i++) {
            open.raw().backing().write(0, ByteBuffer.wrap(filled(1_000 * i, i)));
            volume.context().raws().syncWritten();
            for (int crash = 0; crash < CRASHES; crash++) {
                CrashRawFolder left = raw.crash(seed + crash);
                lost += left.numbers().isEmpty()
                                || left.status(left.numbers().get(0)).size() != 1_000L * i
                        ? 1
                        : 0;
            }
        }
        volume.close(open);
        return lost;
    }

    @Test
    void twoChangesOfARecordAtTheSameTimeAreBothKept() throws Exception {
        file("a", filled(100, 1));
        RawFile changed = rawFile("a");
        RawRecord.Copy copy = new RawRecord.Copy(7, 8);
        Future<?> alone = run(() -> volume.context().raws().record(changed, record -> record.withCopy(null)));
        // The control: nobody else changes it.
        alone.get();
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Future<?> first = run(() -> volume.context().raws().record(changed, record -> {
            reached.countDown();
            awaitUninterrupted(goesOn);
            return record.withPinned(true);
        }));
        reached.await();
        Future<?> second = run(() -> volume.context().raws().record(changed, record -> record.withCopy(copy)));
        try {
            assertFalse(ends(second));
        } finally {
            goesOn.countDown();
        }
        first.get();
        second.get();
        assertTrue(changed.record().pinned());
        assertEquals(copy, changed.record().copy());
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aNameIsDurableOnceACommitWithItHasEnded() throws Exception {
        file("a", filled(100, 1));
        OpenFile file = volume.open(files.inode("a"), true);
        assertFalse(volume.isNameDurable(file));
        volume.commit();
        assertTrue(volume.isNameDurable(file));
        volume.rename(Inode.ROOT, new byte[] {'a'}, Inode.ROOT, new byte[] {'b'}, RenameMode.REPLACE);
        assertFalse(volume.isNameDurable(file));
        volume.commit();
        volume.link(file.inode(), Inode.ROOT, new byte[] {'l'});
        metadata.failNextCommits(1);
        assertThrows(IOException.class, volume::commit);
        assertFalse(volume.isNameDurable(file), "the commit that took it failed");
        volume.close(file);
    }

    /** After a power cut no name has fewer bytes than its file had at the exchange. */
    @Test
    void filesThatAreExchangedHaveAllTheirBytes() throws IOException {
        file("a", filled(3_000, 1));
        file("b", filled(3_000, 2));
        volume.sync();
        files.append("a", filled(2_000, 1));
        files.append("b", filled(2_000, 2));
        assertTrue(someCrashShortens(), "the control: before the exchange nothing has to be durable");
        files.exchange("a", "b");
        assertFalse(someCrashShortens());
    }

    private boolean someCrashShortens() throws IOException {
        boolean shortens = false;
        for (int crash = 0; crash < CRASHES; crash++) {
            CrashRawFolder left = raw.crash(seed + crash);
            for (long number : left.numbers()) {
                shortens |= left.status(number).size() < 5_000;
            }
        }
        return shortens;
    }

    @Test
    void timesThatAreSetInAnyMomentOfAMigrationStay() throws IOException {
        boolean reached = true;
        for (int at = 1; reached; at++) {
            String name = "file" + at;
            file(name, filled(5_000, at));
            files.copy(name);
            long inode = files.inode(name);
            long time = 1_000_000_000L * at;
            AtomicInteger left = new AtomicInteger(at);
            hooked.hook = call -> {
                Object result = call.proceed();
                if (left.decrementAndGet() == 0) {
                    volume.change(inode, new AttributeChange(null, null, null, null, null, time, null));
                }
                return result;
            };
            try {
                files.migrate(name);
            } catch (PosixException busy) {
                assertEquals(PosixException.Reason.EBUSY, busy.reason());
            }
            reached = left.get() <= 0;
            hooked.hook = HookedStores.Call::proceed;
            if (reached) {
                assertEquals(time, volume.attributes(inode).modifiedNs(), "set after call " + at);
                volume.fastTier().migrate(inode);
                assertEquals(time, volume.attributes(inode).modifiedNs(), "set after call " + at);
            } else {
                assertTrue(at > 5, "the control: a migration looks at the file several times");
            }
        }
        assertEquals(List.of(), files.problems());
    }

    /** It may have been mapped meanwhile. */
    @Test
    void aFileThatIsOpenedWhileItsMigrationEndsIsNotMigrated() throws IOException {
        file("a", filled(5_000, 1));
        long inode = files.inode("a");
        hooked.hook = call -> {
            Object result = call.proceed();
            if (call.what().equals("isUnused")) {
                volume.close(volume.open(inode, false));
            }
            return result;
        };
        assertThrows(PosixException.class, () -> volume.fastTier().migrate(inode));
        hooked.hook = HookedStores.Call::proceed;
        assertTrue(volume.fastTier().migrate(inode), "the control");
        assertEquals(List.of(), files.problems());
    }
}
