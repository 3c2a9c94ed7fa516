package org.opendedup.sar.objects.reliable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreContract;

/**
 * The contract over a store of which one request in twenty fails, and what the pauses, the budget and the breaker do.
 */
class ReliableObjectStoreTest extends ObjectStoreContract {
    private static final double FAULTS = 0.05;
    /** Small, so that small objects have ranges and parts. */
    private static final Limits LIMITS =
            new Limits(Duration.ofSeconds(60), Duration.ofMillis(50), Duration.ofSeconds(5), 10_000, 20_000, 20_000, 4);

    private final long seed = TestSeed.next();
    private final CountingTimer timer = new CountingTimer();

    private ReliableObjectStore over(ObjectStore store) {
        return new ReliableObjectStore(store, LIMITS, timer, new Random(seed));
    }

    @Override
    protected ObjectStore newStore() {
        return over(new FaultyObjectStore(new MemoryObjectStore(), timer, FAULTS, seed));
    }

    @Override
    protected int manyNames() {
        return 2000;
    }

    /** A replacement whose answer was lost counts, also if another has replaced it before it was asked for again. */
    @Test
    @Override
    protected void eachVersionHasOneSuccessor() throws Exception {
        int counted = raceReplacements(store(), 20);
        assertTrue(counted >= RACERS * 20 && counted < RACERS * 40, "counted to " + counted);
    }

    @Test
    void anObjectIsPutWholeUpToALengthAndElseInParts() throws IOException {
        Limits limits = new Limits(Duration.ofSeconds(60), Duration.ZERO, Duration.ZERO, 10_000, 50_000, 20_000, 4);
        try (ReliableObjectStore store =
                new ReliableObjectStore(new MemoryObjectStore(), limits, timer, new Random(seed))) {
            store.put("pack", ObjectSource.of(new byte[50_000]));
            assertEquals(1, store.statistics().putRequests());
            assertEquals(0, store.statistics().partRequests());
            store.put("longer", ObjectSource.of(new byte[50_001]));
            assertEquals(1, store.statistics().putRequests());
            assertEquals(5, store.statistics().partRequests(), "begin, three parts, complete");
        }
    }

    /** Puts, reads and deletes objects through a store; fails if a byte is wrong or a put is lost or made twice. */
    private void use(ObjectStore store, MemoryObjectStore below) throws IOException {
        Random random = new Random(seed);
        Map<String, byte[]> model = new HashMap<>();
        Map<String, Integer> puts = new HashMap<>();
        for (int step = 0; step < 2000; step++) {
            String name = "objects/" + random.nextInt(500);
            byte[] known = model.get(name);
            if (known == null) {
                byte[] bytes = bytes(random.nextInt(60_000), random.nextLong());
                store.put(name, ObjectSource.of(bytes));
                model.put(name, bytes);
                puts.put(name, 1);
            } else if (random.nextInt(10) == 0) {
                store.delete(List.of(name));
                assertThrows(NoSuchFileException.class, () -> store.status(name));
                model.put(name, new byte[0]);
                store.put(name, ObjectSource.of(new byte[0]));
                puts.merge(name, 1, Integer::sum);
            } else {
                int from = random.nextInt(known.length + 1);
                byte[] read = new byte[random.nextInt(known.length - from + 1)];
                store.read(name, from, ByteBuffer.wrap(read));
                assertEquals(ByteBuffer.wrap(known, from, read.length), ByteBuffer.wrap(read));
            }
        }
        List<String> names = new ArrayList<>(model.keySet());
        names.sort(null);
        assertEquals(names, store.list("", "", ObjectStore.MOST_NAMES).names());
        for (String name : names) {
            assertArrayEquals(model.get(name), below.readWhole(name, 60_000));
            assertEquals(puts.get(name), below.timesMade(name));
        }
        // Where the answer to the beginning of a put was lost, nobody knows its name.
        store.removeUnfinished(Instant.now().plusSeconds(3600));
        assertEquals(0, below.unfinished());
    }

    @Test
    void noByteIsWrongAndNoPutIsLostOrMadeTwice() throws IOException {
        MemoryObjectStore below = new MemoryObjectStore();
        try (ReliableObjectStore store = over(new FaultyObjectStore(below, timer, FAULTS, seed))) {
            use(store, below);
            ObjectStoreStatistics statistics = store.statistics();
            assertTrue(statistics.unansweredRequests() > 50, statistics::toString);
            assertEquals(statistics.unansweredRequests(), statistics.repeatedRequests());
            assertEquals("closed", statistics.breaker());
        }
    }

    @Test
    void controlWithoutItTheFaultsAreSeen() {
        MemoryObjectStore below = new MemoryObjectStore();
        assertThrows(UnavailableException.class, () -> use(new FaultyObjectStore(below, timer, FAULTS, seed), below));
    }

    @Test
    void controlWithoutTokensAPutThatSucceededLooksLikeAnothers() throws IOException {
        MemoryObjectStore below = new MemoryObjectStore();
        ObjectStore forgetful = new ForwardingStore(new FaultyObjectStore(below, timer, FAULTS, seed)) {
            @Override
            public ObjectStatus status(String name) throws IOException {
                ObjectStatus status = super.status(name);
                return new ObjectStatus(status.length(), status.crc32c(), UUID.randomUUID());
            }
        };
        try (ReliableObjectStore store = over(forgetful)) {
            IOException failure = assertThrows(IOException.class, () -> use(store, below));
            assertFalse(failure instanceof UnavailableException, failure::toString);
        }
    }

    @Test
    void pausesAreRandomBelowABoundThatDoubles() throws IOException {
        int[] failures = {0};
        ObjectStore store = over(new ForwardingStore(new MemoryObjectStore()) {
            @Override
            public ObjectStatus status(String name) throws IOException {
                if (failures[0]++ % 9 < 8) {
                    throw new UnavailableException("not now");
                }
                throw new NoSuchFileException(name);
            }
        });
        long[] longest = new long[8];
        for (int round = 0; round < 8; round++) {
            assertThrows(NoSuchFileException.class, () -> store.status("a"));
            assertEquals(8 * (round + 1), timer.pauses().size());
            for (int tries = 0; tries < 8; tries++) {
                longest[tries] = Math.max(longest[tries], timer.pauses().get(8 * round + tries));
            }
            // The budget of repetitions comes back with the time.
            timer.sleep(60_000_000_000L);
            timer.pauses().remove(timer.pauses().size() - 1);
        }
        store.close();
        for (int tries = 0; tries < 8; tries++) {
            long bound = Math.min(5000, 50L << tries) * 1_000_000;
            assertTrue(longest[tries] <= bound && longest[tries] > bound / 4, tries + ": " + longest[tries]);
        }
    }

    @Test
    void aStoreThatNeverAnswersIsNotAskedForLong() throws IOException {
        FaultyObjectStore faulty = new FaultyObjectStore(new MemoryObjectStore(), timer, 1, seed);
        try (ReliableObjectStore store = over(new ForwardingStore(faulty) {
            @Override
            public ObjectStatus status(String name) throws IOException {
                throw new UnavailableException("no route to host");
            }
        })) {
            long began = timer.nanos();
            IOException first = assertThrows(UnavailableException.class, () -> store.status("a"));
            assertTrue(NoAnswer.is(first));
            assertTrue(timer.nanos() - began <= LIMITS.patience().toNanos());
            assertEquals("open", store.statistics().breaker());
            long asked = store.statistics().statusRequests();
            assertTrue(asked >= Breaker.FAILURES && asked < 20, "asked " + asked);
            // The next ones fail at once.
            int pauses = timer.pauses().size();
            assertThrows(UnavailableException.class, () -> store.status("a"));
            assertThrows(UnavailableException.class, () -> store.status("a"));
            assertEquals(pauses, timer.pauses().size());
            assertEquals(asked, store.statistics().statusRequests());
            // After a while one tries.
            timer.sleep(30_000_000_000L);
            faulty.setShare(0);
            assertTrue(store.list("", "", 10).isLast());
            assertEquals("closed", store.statistics().breaker());
            assertEquals(1, store.statistics().breakerOpenings());
        }
    }

    @Test
    void aTrialThatFailsOpensTheBreakerForLonger() {
        Breaker breaker = new Breaker("store");
        long second = 1_000_000_000;
        for (int failure = 0; failure < Breaker.FAILURES; failure++) {
            assertTrue(breaker.passes(0));
            breaker.failed(0, "no route");
        }
        assertFalse(breaker.passes(second - 1));
        assertTrue(breaker.passes(second));
        assertFalse(breaker.passes(second), "only one");
        breaker.failed(second, "no route");
        assertFalse(breaker.passes(3 * second - 1));
        assertTrue(breaker.passes(3 * second));
        breaker.neither(3 * second);
        assertFalse(breaker.passes(3 * second));
        assertTrue(breaker.passes(5 * second));
        breaker.answered();
        assertTrue(breaker.passes(5 * second));
        assertTrue(breaker.passes(5 * second));
        assertEquals(Breaker.State.CLOSED, breaker.state());
        assertEquals(1, breaker.timesOpened());
    }

    @Test
    void repetitionsAreATenthOfTheRequests() {
        RetryBudget budget = new RetryBudget(0);
        int burst = 0;
        while (budget.take(0)) {
            burst++;
        }
        for (int answer = 0; answer < 100; answer++) {
            budget.answered();
        }
        int earned = 0;
        while (budget.take(0)) {
            earned++;
        }
        assertTrue(earned >= 9 && earned <= 10, "earned " + earned);
        assertTrue(budget.take(1_000_000_000L));
        assertFalse(budget.take(1_000_000_000L));
        assertEquals(64, burst);
    }

    @Test
    void whatIsReadInRangesIsTheCallersWhenItReturns() throws Exception {
        MemoryObjectStore below = new MemoryObjectStore();
        byte[] bytes = bytes(100_000, 1);
        below.put("a", ObjectSource.of(bytes));
        int[] begun = {0};
        CountDownLatch failed = new CountDownLatch(1);
        try (ReliableObjectStore store = over(new ForwardingStore(below) {
            @Override
            public void read(String name, long offset, ByteBuffer target) throws IOException {
                synchronized (begun) {
                    begun[0]++;
                }
                if (offset == 0) {
                    failed.countDown();
                    throw new IOException("damaged");
                }
                // Until the failure of the first one is known.
                Uninterruptibles.awaitUninterruptibly(failed);
                Uninterruptibles.sleepUninterruptibly(50, TimeUnit.MILLISECONDS);
                super.read(name, offset, target);
            }
        })) {
            byte[] read = new byte[bytes.length];
            IOException failure = assertThrows(IOException.class, () -> store.read("a", 0, ByteBuffer.wrap(read)));
            assertEquals("damaged", failure.getMessage());
            byte[] then = read.clone();
            // Longer than a range takes that would still be read.
            Thread.sleep(100);
            assertArrayEquals(then, read);
            assertTrue(begun[0] < 10, "ranges that had not begun were not read");
            assertEquals(begun[0], store.statistics().readRequests());
        }
    }

    @Test
    void requestsAndBytesAreCounted() throws IOException {
        try (ReliableObjectStore store = over(new MemoryObjectStore())) {
            store.put("small", ObjectSource.of(bytes(20_000, 1)));
            store.put("large", ObjectSource.of(bytes(50_001, 2)));
            store.readWhole("large", 100_000);
            store.list("", "", 10);
            store.delete(List.of("small", "large"));
            store.replaceable().orElseThrow().replace("lease", null, UUID.randomUUID(), new byte[10]);
            assertEquals(
                    new ObjectStoreStatistics(1, 5, 6, 1, 1, 1, 1, 0, 0, 70_001, 50_001, 0, 0, "closed", 0, 0),
                    store.statistics());
        }
    }
}
