package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.NoThreads;
import org.opendedup.sar.sdfs.fuse.SyncThreads;
import org.opendedup.sar.sdfs.fuse.Syncers;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Asked;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Sync;

/** Programs that wait for a commit, more of them than there are workers, beside others. */
@Timeout(120)
class LateSyncsTest {
    private static final int SYNCERS = 16;

    private final SlowFileSystem slow = new SlowFileSystem();

    /** Its commits, and its reads, end when the test lets them. */
    private static final class SlowFileSystem extends MemoryFileSystem implements AutoCloseable {
        final Semaphore stored = new Semaphore(0);
        final Semaphore reads = new Semaphore(0);
        final AtomicInteger commits = new AtomicInteger();
        final CountDownLatch release = new CountDownLatch(1);
        /** Counted down when the first commit begins. */
        final CountDownLatch begun = new CountDownLatch(1);
        /** Stores that may end, if they run beside commits. */
        final Semaphore storesToEnd = new Semaphore(0);

        volatile boolean atOnce;
        volatile boolean failing;
        volatile boolean besideCommits;
        volatile boolean storesFail;

        @Override
        public boolean storesBesideCommit(long handle) {
            return besideCommits;
        }

        @Override
        public void store(long handle) throws IOException {
            super.store(handle);
            if (besideCommits) {
                storesToEnd.acquireUninterruptibly();
            }
            if (storesFail) {
                throw new IOException("the fast tier is gone");
            }
            stored.release();
        }

        @Override
        public boolean storeAtOnce(long handle) throws IOException {
            boolean isStored = atOnce && super.storeAtOnce(handle);
            if (isStored) {
                stored.release();
            }
            return isStored;
        }

        @Override
        public void commit() throws IOException {
            begun.countDown();
            await();
            commits.incrementAndGet();
            if (failing) {
                throw new IOException("the disk is gone");
            }
        }

        @Override
        public int read(long handle, long offset, ByteBuffer target) throws IOException {
            reads.release();
            await();
            return super.read(handle, offset, target);
        }

        private void await() throws IOException {
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        void awaitStored(int count) throws InterruptedException {
            assertTrue(stored.tryAcquire(count, 60, TimeUnit.SECONDS), () -> stored.availablePermits() + " came");
        }

        @Override
        public void close() {
            release.countDown();
        }
    }

    @AfterEach
    void closeVolume() throws IOException {
        slow.closeVolume();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void othersAreServedWhileManyWaitAndThoseShareACommit(boolean atOnce) throws Exception {
        slow.atOnce = atOnce;
        try (MountedToy toy = new MountedToy(slow);
                slow;
                Syncers syncers = Syncers.start(toy.root, SYNCERS)) {
            slow.awaitStored(SYNCERS);
            assertEquals("d", toy.shell("stat none 2>/dev/null; mkdir d; touch d/f; ls -d d"));
            assertEquals(0, slow.commits.get());
            // One that has stored and waits for the commit only later needs one of its own.
            TestWait.until(LateSyncsTest::allWaitForACommit);
            slow.close();
            assertEquals(0, syncers.failures());
            // Of the one that its worker serves, of who came first to the thread that commits, and of all others.
            assertTrue(slow.commits.get() <= 3, () -> slow.commits + " commits");
        }
    }

    /** Returns whether no thread is on its way from a store to those that wait for a commit. */
    private static boolean allWaitForACommit() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .filter(frame -> frame.getClassName().equals(LateSyncs.class.getName()))
                .noneMatch(frame -> List.of("takes", "store").contains(frame.getMethodName()));
    }

    /** The control: what keeps its worker does hold up the others. */
    @Test
    void readsThatHangKeepTheWorkers() throws Exception {
        try (MountedToy toy = new MountedToy(slow);
                slow) {
            Files.write(toy.root.resolve("f"), new byte[8192]);
            Process readers = new ProcessBuilder(
                            "bash", "-c", "for i in {1..8}; do dd if=f of=/dev/null bs=4096 iflag=direct & done; wait")
                    .directory(toy.root.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            assertTrue(slow.reads.tryAcquire(4, 60, TimeUnit.SECONDS));
            Process other = new ProcessBuilder("stat", "none")
                    .directory(toy.root.toFile())
                    .start();
            assertFalse(other.waitFor(1, TimeUnit.SECONDS));
            slow.close();
            assertTrue(other.waitFor(60, TimeUnit.SECONDS));
            assertTrue(readers.waitFor(60, TimeUnit.SECONDS));
        }
    }

    /** Both must have ended before a program goes on; whichever ends first. */
    @Test
    void aStoreAndItsCommitRunBesideEachOther() throws Exception {
        slow.besideCommits = true;
        try (MountedToy toy = new MountedToy(slow);
                slow;
                Syncers syncers = Syncers.start(toy.root, SYNCERS)) {
            // Stores hang too: only a commit that does not wait for them begins.
            assertTrue(slow.begun.await(60, TimeUnit.SECONDS));
            assertEquals(0, slow.stored.availablePermits());
            assertEquals("d", toy.shell("mkdir d; ls -d d"));
            slow.close();
            slow.storesToEnd.release(SYNCERS - 1);
            assertTrue(slow.stored.tryAcquire(SYNCERS - 1, 60, TimeUnit.SECONDS));
            assertFalse(
                    syncers.process().waitFor(500, TimeUnit.MILLISECONDS),
                    "a program went on before its bytes were stored");
            slow.storesToEnd.release(1);
            assertEquals(0, syncers.failures());
        }
    }

    @Test
    void aFailedStoreBesideACommitIsTold() throws Exception {
        slow.besideCommits = true;
        slow.storesFail = true;
        slow.storesToEnd.release(2);
        try (MountedToy toy = new MountedToy(slow);
                slow) {
            slow.close();
            try (Syncers syncers = Syncers.start(toy.root, 1)) {
                assertEquals(1, syncers.failures());
            }
        }
    }

    @Test
    void aFailedCommitIsToldToAllThatWaitForIt() throws Exception {
        slow.failing = true;
        try (MountedToy toy = new MountedToy(slow);
                slow;
                Syncers syncers = Syncers.start(toy.root, SYNCERS)) {
            slow.awaitStored(SYNCERS);
            slow.close();
            assertEquals(SYNCERS, syncers.failures());
        }
    }

    @Test
    void aKilledProgramGoesThoughItsCommitHangs() throws Exception {
        try (MountedToy toy = new MountedToy(slow);
                slow) {
            // The first is served by its worker, the second is not.
            for (int i = 0; i < 2; i++) {
                Files.write(toy.root.resolve("f"), new byte[1]);
                Process syncer = new ProcessBuilder("sync", "f")
                        .directory(toy.root.toFile())
                        .start();
                slow.awaitStored(1);
                try (Syncers others = Syncers.start(toy.root, 1)) {
                    slow.awaitStored(1);
                    syncer.destroyForcibly();
                    assertTrue(syncer.waitFor(30, TimeUnit.SECONDS));
                }
            }
        }
    }

    /** A sync of the fast tier, or else of chunks, that does not end before the latch lets it; or one that does. */
    private record Storing(boolean isOnFastTier, Semaphore begun, CountDownLatch end) implements Sync {
        @Override
        public void store() throws IOException {
            begun.release();
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public boolean needsCommit() {
            return false;
        }

        @Override
        public void check() {}
    }

    /** Returns whether a sync of chunks is answered while more syncs than there are threads do not end. */
    private boolean isAnsweredBeside(boolean fastTierHangs) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        Semaphore begun = new Semaphore(0);
        LateSyncs syncs = new LateSyncs(
                slow,
                false,
                new SyncThreads(2, "store"),
                new SyncThreads(2, "store-fast"),
                new SyncThreads(1, "commit"));
        try (syncs) {
            for (int i = 0; i < SYNCERS; i++) {
                Sync hanging = new Storing(fastTierHangs, begun, end);
                syncs.takes((unique, errno) -> {}, new Asked(i, 0, 0, () -> "hangs"), hanging);
            }
            // Each thread has one before the next user's turn.
            assertTrue(begun.tryAcquire(2, 60, TimeUnit.SECONDS));
            Sync other = new Storing(false, begun, new CountDownLatch(0));
            syncs.takes((unique, errno) -> answered.countDown(), new Asked(41, 0, 1, () -> "a sync"), other);
            boolean isAnswered = answered.await(fastTierHangs ? 60 : 1, TimeUnit.SECONDS);
            end.countDown();
            return isAnswered;
        }
    }

    @Test
    void aFastTierThatHangsHoldsUpNoSyncOfChunks() throws Exception {
        assertTrue(isAnsweredBeside(true));
        assertFalse(isAnsweredBeside(false), "the control: syncs of chunks share their threads");
    }

    /** What a killed program leaves behind takes memory until it is done; and a user can start and kill many. */
    @Test
    void killedProgramsLeaveAFewSyncsBehindThatAreNotDone() throws Exception {
        int killed = LateSyncs.MAX_ABANDONED + SYNCERS;
        CountDownLatch end = new CountDownLatch(1);
        Set<Long> answered = ConcurrentHashMap.newKeySet();
        LateSyncs syncs = new LateSyncs(
                slow,
                false,
                new SyncThreads(2, "store"),
                new SyncThreads(2, "store-fast"),
                new SyncThreads(1, "commit"));
        try (syncs) {
            for (int i = 0; i < killed; i++) {
                Sync hanging = new Storing(true, new Semaphore(0), end);
                syncs.takes((unique, errno) -> answered.add(unique), new Asked(i, 1, 0, () -> "hangs"), hanging);
                syncs.interrupted(i, pid -> true);
            }
            int answeredAtOnce = answered.size();
            end.countDown();
            assertEquals(LateSyncs.MAX_ABANDONED, answeredAtOnce);
        }
        assertEquals(killed, answered.size());
    }

    /** A check reads a file of the kernel, and there may be as many requests as programs. */
    @Test
    void ofManyThatWaitSomeAreCheckedAtATime() {
        int waiting = 3 * LateSyncs.MAX_CHECKS;
        CountDownLatch end = new CountDownLatch(1);
        LateSyncs syncs = new LateSyncs(
                slow,
                false,
                new SyncThreads(2, "store"),
                new SyncThreads(2, "store-fast"),
                new SyncThreads(1, "commit"));
        try (syncs) {
            for (int i = 1; i <= waiting; i++) {
                Sync hanging = new Storing(true, new Semaphore(0), end);
                syncs.takes((unique, errno) -> {}, new Asked(i, i, 0, () -> "hangs"), hanging);
            }
            Set<Integer> checked = ConcurrentHashMap.newKeySet();
            int most = 0;
            for (int looks = 0; looks < 6; looks++) {
                int before = checked.size();
                syncs.look(pid -> !checked.add(pid));
                most = Math.max(most, checked.size() - before);
            }
            int all = checked.size();
            end.countDown();
            assertEquals(waiting, all, "each was seen by one round, and checked by the next");
            assertTrue(most <= LateSyncs.MAX_CHECKS, most + " checked at a time");
        }
    }

    @Test
    void whatWaitsIsAnsweredWhereTheMachineGivesNoThread(@TempDir Path folder) throws Exception {
        slow.close();
        assertEquals(List.of(41L), answeredBy(folder, new SyncThreads(1, "store"), new SyncThreads(1, "commit")));
        assertEquals(List.of(41L), answeredBy(folder, new SyncThreads(1, "store"), NoThreads.make()));
        assertEquals(List.of(41L), answeredBy(folder, NoThreads.make(), NoThreads.make()));
    }

    /**
     * The requests that were answered with success when all was done that came of number 41. A file takes the place of
     * the kernel.
     */
    private List<Long> answeredBy(Path folder, SyncThreads storing, SyncThreads committing) throws Exception {
        Path answers = Files.createFile(folder.resolve("answers"));
        Libc libc = new Libc();
        Sync sync = new Sync() {
            @Override
            public void store() {
                slow.stored.release();
            }

            @Override
            public void check() {}
        };
        try (Channel channel = new Channel(libc, libc.open(answers, Libc.O_RDWR))) {
            LateSyncs syncs = new LateSyncs(slow, false, storing, NoThreads.make(), committing);
            NoThreads.without(() -> assertTrue(syncs.takes(channel, new Asked(41, 0, 0, () -> "a sync"), sync)));
            slow.awaitStored(1);
            syncs.close();
        }
        ByteBuffer written = ByteBuffer.wrap(Files.readAllBytes(answers)).order(ByteOrder.nativeOrder());
        Files.delete(answers);
        List<Long> answered = new ArrayList<>();
        while (written.hasRemaining()) {
            assertEquals(16, written.getInt());
            assertEquals(0, written.getInt());
            answered.add(written.getLong());
        }
        return answered;
    }

    @Test
    void aMountWithOneWorkerServesOthersToo() throws Exception {
        try (MountedToy toy = new MountedToy(slow, "threads=1");
                slow;
                Syncers syncers = Syncers.start(toy.root, 2)) {
            slow.awaitStored(1);
            assertEquals("d", toy.shell("mkdir d; ls -d d"));
            slow.close();
            assertEquals(0, syncers.failures());
        }
    }
}
