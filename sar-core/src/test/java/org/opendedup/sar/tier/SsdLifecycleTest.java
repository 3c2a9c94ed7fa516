package org.opendedup.sar.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.OfferListener;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdWriteException;
import org.opendedup.sar.ssd.StoreMemory;
import org.opendedup.sar.tier.SsdTier.Event;
import org.opendedup.sar.tier.SsdTier.State;
import org.opendedup.sar.tier.copies.AttachedSsd;
import org.opendedup.sar.tier.copies.Cause;
import org.opendedup.sar.tier.copies.ChunkRequest;
import org.opendedup.sar.tier.copies.FakeSsd;

/** An SSD that comes, goes and fails, and what the volume and its administrator see of it. */
class SsdLifecycleTest {
    private static final StoreMemory MEMORY = new StoreMemory(10, 0);
    private static final Timeline TIMELINE = Timeline.beginning(new UUID(1, 2), 3);

    @TempDir
    Path folder;

    private final AtomicLong nanos = new AtomicLong();
    private final List<State> events = new ArrayList<>();
    private final List<FakeSsd> opened = new CopyOnWriteArrayList<>();
    private final List<FakeSsd> hanging = new CopyOnWriteArrayList<>();
    private volatile IOException refusal;
    private volatile IOException claimRefusal;
    private volatile CountDownLatch mayClaim = new CountDownLatch(0);
    private volatile CountDownLatch mayOpen = new CountDownLatch(0);
    private boolean readOnly;
    private Duration limit = Duration.ofMinutes(1);
    private Path place;

    /** Takes everything, keeps nothing. */
    private static final class FakeSsd implements AttachedSsd {
        final Consumer<IOException> failure;
        final CountDownLatch closed = new CountDownLatch(1);
        volatile CountDownLatch mayClose = new CountDownLatch(0);
        int written;
        boolean readOnly;

        FakeSsd(Consumer<IOException> failure) {
            this.failure = failure;
        }

        void fail(String message, int times) {
            for (int i = 0; i < times; i++) {
                failure.accept(new IOException(message));
            }
        }

        @Override
        public int copies() {
            return 1;
        }

        @Override
        public boolean holds(long chunkId) {
            return true;
        }

        @Override
        public void read(ChunkRequest request) {}

        @Override
        public void probe() {}

        @Override
        public boolean isReadOnly() {
            return readOnly;
        }

        @Override
        public void dropDamaged(long chunkId) {}

        @Override
        public boolean contains(long chunkId) {
            return true;
        }

        @Override
        public void listen(OfferListener listener) {}

        @Override
        public OfferAnswer offer(
                long chunkId, int check, int count, int saving, Cause cause, byte[] data, int offset, int length) {
            return OfferAnswer.TAKEN;
        }

        @Override
        public void noteWanted(long chunkId, int count, int saving) {}

        @Override
        public void forEach(Consumer<MapEntry> visitor) {}

        @Override
        public boolean get(long chunkId, MapEntry into) {
            return false;
        }

        @Override
        public boolean demote(long chunkId) {
            return false;
        }

        @Override
        public void setCount(long chunkId, int count) {}

        @Override
        public void age() {}

        @Override
        public int size() {
            return 1;
        }

        @Override
        public int maxEntries() {
            return 1000;
        }

        @Override
        public long liveLimitBytes() {
            return Long.MAX_VALUE;
        }

        @Override
        public long damaged() {
            return 0;
        }

        @Override
        public long tableHeapBytes() {
            return 0;
        }

        @Override
        public long liveBytes() {
            return 0;
        }

        @Override
        public long usedBytes() {
            return 0;
        }

        @Override
        public void resize(long capacityBytes) {
            assertEquals(1000, capacityBytes);
        }

        @Override
        public SsdLogStatistics statistics() {
            return new SsdLogStatistics(0, written, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }

        @Override
        public void close() {
            Uninterruptibles.awaitUninterruptibly(mayClose);
            closed.countDown();
        }
    }

    /** Opens fakes, once it may. */
    private final class FakeOpener implements AttachedSsd.Opener {
        @Override
        public void claim(Path location, UUID volume) throws IOException {
            Uninterruptibles.awaitUninterruptibly(mayClaim);
            if (claimRefusal != null) {
                throw claimRefusal;
            }
        }

        @Override
        public AttachedSsd open(
                Path at,
                Timeline timeline,
                long capacity,
                StoreMemory memory,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException {
            FakeSsd ssd = new FakeSsd(failure);
            ssd.readOnly = readOnly;
            hanging.add(ssd);
            Uninterruptibles.awaitUninterruptibly(mayOpen);
            if (refusal != null) {
                throw refusal;
            }
            opened.add(ssd);
            return ssd;
        }
    }

    @BeforeEach
    void makePlace() throws IOException {
        place = Files.createDirectory(folder.resolve("ssd"));
        Files.createFile(place.resolve("something"));
    }

    private SsdLifecycle connection(Path location) {
        SsdLifecycle connection =
                new SsdLifecycle(location, new FakeOpener(), TIMELINE, "test", () -> {}, nanos::get, limit);
        connection.listen((Event event) -> events.add(event.state()));
        return connection;
    }

    private SsdLifecycle mounted() {
        SsdLifecycle connection = connection(place);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.ONLINE, connection.state());
        return connection;
    }

    private static OfferAnswer offer(SsdLifecycle connection) {
        return connection.offer(1, 0, 5, 100, Cause.WRITE, new byte[8], 0, 8);
    }

    @Test
    void withoutALocationThereIsNone() {
        SsdLifecycle connection = connection(null);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.NONE, connection.state());
        assertNull(connection.attached());
        assertEquals(OfferAnswer.UNAVAILABLE, offer(connection));
    }

    @Test
    void aMissingFolderIsNotMadeAtMount() throws IOException {
        Path missing = folder.resolve("missing");
        SsdLifecycle connection = connection(missing);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.DETACHED, connection.state());
        assertTrue(connection.reason().contains("not mounted"), connection.reason());
        assertFalse(Files.exists(missing));
        assertEquals(List.of(State.DETACHED), events);
    }

    @Test
    void anEmptyFolderIsNotFilledAtMountButTakenWhenAttached() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        SsdLifecycle connection = connection(empty);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.DETACHED, connection.state());
        connection.attach(empty, 1000, MEMORY);
        assertEquals(State.ONLINE, connection.state());
        assertEquals("", connection.reason());
        assertEquals(OfferAnswer.TAKEN, offer(connection));
    }

    @Test
    void anSsdThatCannotBeOpenedLeavesTheVolumeWithout() {
        refusal = new IOException("it is of another volume");
        SsdLifecycle connection = connection(place);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.FAILED, connection.state());
        assertTrue(connection.reason().contains("another volume"), connection.reason());
        assertEquals(List.of(State.FAILED), events);
    }

    @Test
    void anSsdThatHangsAtMountLeavesTheVolumeWithoutAndIsClosedWhenItAnswers() throws Exception {
        mayOpen = new CountDownLatch(1);
        limit = Duration.ofMillis(50);
        SsdLifecycle connection = connection(place);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.FAILED, connection.state());
        assertTrue(connection.reason().contains("did not end within"), connection.reason());
        assertEquals(List.of(State.FAILED), events);
        mayOpen.countDown();
        assertTrue(hanging.get(0).closed.await(1, TimeUnit.MINUTES));
        assertNull(connection.attached());
    }

    @Test
    void aHungSsdThatIsAttachedIsRefusedAndTheOneInUseStays() {
        limit = Duration.ofSeconds(1);
        SsdLifecycle connection = mounted();
        mayClaim = new CountDownLatch(1);
        assertThrows(IOException.class, () -> connection.attach(place, 1000, MEMORY));
        assertEquals(State.ONLINE, connection.state());
        mayClaim.countDown();
    }

    @Test
    void anSsdThatIsReadOnlyAtMountSaysSoAtOnce() {
        readOnly = true;
        SsdLifecycle connection = connection(place);
        connection.openAtMount(1000, MEMORY);
        assertEquals(State.READ_ONLY, connection.state());
        assertTrue(connection.reason().contains("Read-only file system"), connection.reason());
        assertNotNull(connection.attached());
        assertEquals(OfferAnswer.UNAVAILABLE, offer(connection));
        assertEquals(List.of(State.READ_ONLY), events);
    }

    @Test
    void attachingTellsWhyItFails() throws IOException {
        SsdLifecycle connection = mounted();
        claimRefusal = new IOException("it is not empty");
        IOException refused = assertThrows(IOException.class, () -> connection.attach(place, 1000, MEMORY));
        assertTrue(refused.getMessage().contains("not empty"), refused.getMessage());
        claimRefusal = null;
        assertEquals(State.ONLINE, connection.state(), "the one in use stays");
        refusal = new IOException("it is of another volume");
        assertThrows(IOException.class, () -> connection.attach(place, 1000, MEMORY));
        assertEquals(State.DETACHED, connection.state());
        refusal = null;
        connection.attach(place, 1000, MEMORY);
        assertEquals(State.ONLINE, connection.state());
    }

    @Test
    void detachingClosesAndTheTargetFollows() throws IOException {
        SsdLifecycle connection = mounted();
        assertTrue(connection.contains(1));
        connection.detach();
        assertEquals(State.DETACHED, connection.state());
        assertEquals(0, opened.get(0).closed.getCount());
        assertFalse(connection.contains(1));
        assertEquals(OfferAnswer.UNAVAILABLE, offer(connection));
        connection.attach(place, 1000, MEMORY);
        assertEquals(OfferAnswer.TAKEN, offer(connection));
        opened.get(0).fail("Input/output error", 100);
        assertEquals(State.ONLINE, connection.state(), "of an SSD that is not in use any more");
    }

    @Test
    void anSsdThatFailsTooOftenIsGivenUpWithOneEvent() throws Exception {
        SsdLifecycle connection = mounted();
        opened.get(0).fail("Input/output error", SsdLifecycle.MOST_FAILURES_IN_A_ROW - 1);
        assertEquals(State.ONLINE, connection.state());
        assertEquals(List.of(), events);
        opened.get(0).fail("Input/output error", 50);
        assertEquals(State.FAILED, connection.state());
        assertNull(connection.attached());
        assertEquals(List.of(State.FAILED), events);
        assertTrue(opened.get(0).closed.await(1, TimeUnit.MINUTES));
        connection.attach(place, 1000, MEMORY);
        assertEquals(State.ONLINE, connection.state());
    }

    @Test
    void aPlaceIsOpenedAgainWhenItsFailedSsdIsClosed() throws Exception {
        SsdLifecycle connection = mounted();
        FakeSsd failed = opened.get(0);
        failed.mayClose = new CountDownLatch(1);
        failed.fail("Input/output error", SsdLifecycle.MOST_FAILURES_IN_A_ROW);
        assertEquals(State.FAILED, connection.state());
        FutureTask<Integer> attaching = new FutureTask<>(() -> {
            connection.attach(place, 1000, MEMORY);
            return opened.size();
        });
        Thread thread = new Thread(attaching);
        thread.start();
        while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        assertEquals(1, opened.size());
        failed.mayClose.countDown();
        assertEquals(2, attaching.get());
        assertEquals(0, failed.closed.getCount());
    }

    @Test
    void aGoodReadForgivesFailures() {
        SsdLifecycle connection = mounted();
        for (int i = 0; i < 5; i++) {
            opened.get(0).fail("Input/output error", SsdLifecycle.MOST_FAILURES_IN_A_ROW - 1);
            connection.goodRead();
        }
        assertEquals(State.ONLINE, connection.state());
        assertNotNull(connection.attached());
    }

    @Test
    void anSsdThatTakesNoWritesIsReadOn() {
        for (String message : List.of("/ssd/1.log: Read-only file system", "/ssd/1.log: No space left on device")) {
            SsdLifecycle connection = mounted();
            opened.get(opened.size() - 1).fail(message, 100);
            assertEquals(State.READ_ONLY, connection.state());
            assertNotNull(connection.attached());
            assertEquals(OfferAnswer.UNAVAILABLE, offer(connection));
        }
        assertEquals(List.of(State.READ_ONLY, State.READ_ONLY), events, "one for each");
    }

    @Test
    void aFullDiskIsKnownByItsExceptionToo() {
        SsdLifecycle connection = mounted();
        opened.get(0).failure.accept(new IOException("a batch is lost", new NoSpaceException("full")));
        assertEquals(State.READ_ONLY, connection.state());
    }

    @Test
    void anSsdWhoseWritesFailForAnyReasonIsReadOnToo() {
        SsdLifecycle connection = mounted();
        FakeSsd ssd = opened.get(0);
        IOException failure = new SsdWriteException(new IOException("Input/output error"));
        for (int i = 0; i < 50; i++) {
            ssd.failure.accept(failure);
            ssd.written++;
        }
        assertEquals(State.ONLINE, connection.state(), "some are written");
        for (int i = 0; i < SsdLifecycle.MOST_WRITE_FAILURES_IN_A_ROW; i++) {
            ssd.failure.accept(failure);
        }
        assertEquals(State.READ_ONLY, connection.state());
        assertTrue(connection.reason().contains("Input/output error"), connection.reason());
        assertEquals(List.of(State.READ_ONLY), events);
    }

    @Test
    void wrongBytesAreToldOnceAndTheSsdIsUsedOn() throws IOException {
        SsdLifecycle connection = mounted();
        for (int i = 0; i < 50; i++) {
            opened.get(0).failure.accept(new CorruptionException("00000.segment", 40, "a record", "something else"));
        }
        assertEquals(State.ONLINE, connection.state());
        assertTrue(connection.reason().contains("wrong bytes"), connection.reason());
        assertEquals(List.of(State.ONLINE), events);
        connection.attach(place, 1000, MEMORY);
        assertEquals("", connection.reason());
    }

    @Test
    void writingIsTriedAgainAndGoesOnOnceItSucceeds() {
        SsdLifecycle connection = mounted();
        opened.get(0).fail("No space left on device", 1);
        assertEquals(OfferAnswer.UNAVAILABLE, offer(connection));
        nanos.addAndGet(SsdLifecycle.WRITE_PAUSE.toNanos());
        assertEquals(OfferAnswer.TAKEN, offer(connection), "a trial");
        assertEquals(State.READ_ONLY, connection.state());
        opened.get(0).fail("No space left on device", 1);
        assertEquals(OfferAnswer.UNAVAILABLE, offer(connection));
        nanos.addAndGet(SsdLifecycle.WRITE_PAUSE.toNanos());
        assertEquals(OfferAnswer.TAKEN, offer(connection));
        opened.get(0).written++;
        assertEquals(OfferAnswer.TAKEN, offer(connection));
        assertEquals(State.ONLINE, connection.state());
        assertEquals(List.of(State.READ_ONLY, State.ONLINE), events);
    }

    @Test
    void aSlowSsdIsSuspendedWithOneEvent() throws IOException {
        SsdLifecycle connection = mounted();
        connection.suspended(Duration.ofSeconds(1));
        connection.suspended(Duration.ofSeconds(2));
        assertEquals(State.SUSPENDED, connection.state());
        assertTrue(connection.reason().contains("slow"), connection.reason());
        connection.resumed();
        assertEquals(State.ONLINE, connection.state());
        assertEquals("", connection.reason());
        assertEquals(List.of(State.SUSPENDED, State.ONLINE), events);
        connection.suspended(Duration.ofSeconds(1));
        connection.attach(place, 1000, MEMORY);
        assertEquals(State.ONLINE, connection.state(), "another SSD");
    }

    @Test
    void nothingIsAttachedAfterClosing() {
        SsdLifecycle connection = mounted();
        connection.close();
        connection.close();
        assertEquals(0, opened.get(0).closed.getCount());
        assertThrows(IOException.class, () -> connection.attach(place, 1000, MEMORY));
    }

    @Test
    void theMemoryIsDividedBetweenListAndTable() {
        assertEquals(1_000_000, SsdTier.lruItems(1_000_000, 64 << 20));
        assertEquals((64 << 20) / 24, SsdTier.lruItems(Integer.MAX_VALUE, 64 << 20), "a half at most");
        assertEquals(((64 << 20) - 12_000_000) / 24, SsdTier.mapEntries(1_000_000, 64 << 20));
    }
}
