package org.opendedup.sar.metadata.quota;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.pending.ContainerUpdate;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;

/** What users use is exact while most of them are not in memory. */
@Timeout(120)
class QuotasTest {
    private static final int MOST = 8;
    private static final int USERS = 300;
    private static final int THREADS = 3;

    /** Happens while a record is read. */
    @FunctionalInterface
    private interface Event {
        void happen() throws IOException;
    }

    /** Makes something happen after the next record of a user is read, before the reader has it. */
    private static final class AfterRead extends HookedKeyValueStore<CrashKeyValueStore> {
        private Event next = () -> {};

        AfterRead() {
            super(new CrashKeyValueStore());
        }

        @Override
        public byte[] get(Family family, byte[] key) throws IOException {
            byte[] value = super.get(family, key);
            Event now = next;
            next = () -> {};
            now.happen();
            return value;
        }
    }

    private final AfterRead database = new AfterRead();
    private final Overlay overlay = new Overlay(database);
    /** The caller's lock: shared for changes, exclusive for freeze. */
    private final ReadWriteLock changes = new ReentrantReadWriteLock();

    private final Quotas quotas = Quotas.open(overlay, MOST);

    QuotasTest() throws IOException {}

    private void commit() {
        Generation generation;
        changes.writeLock().lock();
        try {
            quotas.freeze(overlay);
            generation = overlay.freeze();
        } finally {
            changes.writeLock().unlock();
        }
        try {
            overlay.commit(generation, new ContainerUpdate(database, Map.of(), ContainerChanges.NONE, Set.of()));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes a file of a user, whose group has the same number, and forgets the account. */
    private void make(int user, long bytes) throws IOException {
        changes.readLock().lock();
        try {
            Account account = quotas.account(user, user, 0);
            quotas.count(account, bytes, 1);
            quotas.change(account, bytes);
        } finally {
            changes.readLock().unlock();
        }
    }

    /** Commits until nobody is in memory but whose account was used last, and who must stay. */
    private void drop(int staying) throws IOException {
        for (int user = 0; user < MOST; user++) {
            make(USERS + user, 1);
        }
        TestWait.until(() -> {
            System.gc();
            commit();
            return quotas.inMemory() == staying + 2;
        });
    }

    private static Map<Long, String> used(Quotas quotas) throws IOException {
        return quotas.states().stream()
                .filter(state -> state.id().kind() == Kind.USER && state.id().number() < USERS)
                .collect(Collectors.toMap(
                        state -> state.id().number(),
                        state -> state.bytes() + " in " + state.files(),
                        (one, other) -> one,
                        TreeMap::new));
    }

    @Test
    void whatManyUsersUseIsExactWhileFewAreInMemory() throws Exception {
        long seed = TestSeed.next();
        AtomicLongArray bytes = new AtomicLongArray(USERS);
        AtomicLongArray files = new AtomicLongArray(USERS);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> writers = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                SplittableRandom random = new SplittableRandom(seed + thread);
                writers.add(threads.submit(() -> {
                    for (int step = 0; step < 5000; step++) {
                        int user = random.nextInt(USERS);
                        int more = random.nextInt(1000);
                        make(user, more);
                        bytes.addAndGet(user, more);
                        files.incrementAndGet(user);
                    }
                    return null;
                }));
            }
            for (int round = 0; !writers.stream().allMatch(Future::isDone); round++) {
                commit();
                if (round % 8 == 0) {
                    System.gc();
                }
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
        } finally {
            threads.shutdown();
        }
        Map<Long, String> expected = new TreeMap<>();
        for (int user = 0; user < USERS; user++) {
            expected.put((long) user, bytes.get(user) + " in " + files.get(user));
        }
        assertEquals(expected, used(quotas), "seed " + seed);
        drop(0);
        assertEquals(expected, used(quotas), "seed " + seed);
        assertEquals(
                expected.get(7L),
                quotas.state(new QuotaId(Kind.USER, 7)).bytes() + " in "
                        + quotas.state(new QuotaId(Kind.USER, 7)).files());
        Quotas reopened = Quotas.open(new Overlay(database), MOST);
        assertEquals(0, reopened.inMemory());
        assertEquals(expected, used(reopened), "seed " + seed);
    }

    /** Between the reading of a record and its use, others read it too, change it, and it is dropped again. */
    @Test
    void aRecordThatWasReadBeforeAChangeIsNotUsed() throws IOException {
        for (int user = 0; user < USERS; user++) {
            make(user, 10);
        }
        drop(0);
        database.next = () -> {
            make(7, 5);
            drop(0);
        };
        // Without the lock, as an inode that is loaded.
        Account account = quotas.account(7, 7, 0);
        quotas.count(account, 1, 1);
        quotas.change(account, 1);
        assertEquals("16 in 3", used(quotas).get(7L));
        commit();
        assertEquals("16 in 3", used(quotas).get(7L));
    }

    @Test
    void aRecordThatCannotBeReadIsAnErrorOfTheCallAndChargesNobody() throws IOException {
        make(7, 10);
        drop(0);
        IOException failure = new IOException("Input/output error");
        for (Executable call : List.<Executable>of(
                () -> quotas.prepare(7, 7),
                () -> quotas.account(7, 7, 0),
                () -> quotas.state(new QuotaId(Kind.USER, 7)),
                () -> quotas.setLimits(new QuotaId(Kind.USER, 7), new QuotaLimits(0, 100, 0, 0, 0)))) {
            database.next = () -> {
                throw failure;
            };
            assertSame(failure, assertThrows(IOException.class, call));
        }
        assertEquals("10 in 1", used(quotas).get(7L));
        assertEquals(0, quotas.use().limited());
    }

    @Test
    void limitsAndProjectsStayInMemory() throws IOException {
        quotas.setLimits(new QuotaId(Kind.USER, 3), new QuotaLimits(0, 100, 0, 0, 0));
        int project = quotas.newProject(77);
        quotas.count(quotas.account(1, 1, project), 0, 1);
        for (int user = 0; user < USERS; user++) {
            make(user, 10);
        }
        drop(2);
        assertEquals(new Quotas.Use(1, 0, 0), quotas.use());
        assertEquals(2, quotas.newProject(78));
        assertEquals(77, quotas.state(new QuotaId(Kind.PROJECT, project)).folder());
        Quotas reopened = Quotas.open(new Overlay(database), MOST);
        assertEquals(2, reopened.inMemory());
        assertEquals(new Quotas.Use(1, 0, 0), reopened.use());
        assertEquals(2, reopened.newProject(79));
        assertEquals(100, reopened.state(new QuotaId(Kind.USER, 3)).limits().hardBytes());
    }
}
