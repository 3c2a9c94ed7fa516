package org.opendedup.sar.hot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.hot.copies.FakeSsd;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdWriteException;
import org.opendedup.sar.ssd.StoreMemory;

/** An SSD that is attached, detached and fails: what the volume and its administrator see. */
class SsdLifecycleTest {
    private static final StoreMemory MEMORY = new StoreMemory(10, 0);
    private static final Timeline TIMELINE = Timeline.beginning(new UUID(1, 2), 3);

    @TempDir
    Path folder;

    private final AtomicLong nanos = new AtomicLong();
    private final List<SsdState> events = new ArrayList<>();
    private final List<FakeSsd> opened = new CopyOnWriteArrayList<>();
    private final List<FakeSsd> hanging = new CopyOnWriteArrayList<>();
    private volatile IOException refusal;
    private volatile IOException claimRefusal;
    private volatile CountDownLatch mayClaim = new CountDownLatch(0);
    private volatile CountDownLatch mayOpen = new CountDownLatch(0);
    private boolean readOnly;
    private Duration limit = Duration.ofMinutes(1);
    private Path place;

    /** Accepts every chunk, and keeps none. */
    private static final class FakeSsd implements InvocationHandler {
        final AttachedSsd attached = (AttachedSsd)
                Proxy.newProxyInstance(AttachedSsd.class.getClassLoader(), new Class<?>[] {AttachedSsd.class}, this);
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
        public @Nullable Object invoke(Object self, Method method, Object[] arguments) {
            return switch (method.getName()) {
                case "isAvailable", "hasQueueRoom", "holds", "contains" -> true;
                case "isReadOnly" -> readOnly;
                case "offer" -> OfferAnswer.TAKEN;
                case "copies" -> 1;
                case "statistics" -> new SsdLogStatistics(0, written, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                case "resize" -> {
                    assertEquals(1000L, arguments[0]);
                    yield null;
                }
                case "close" -> {
                    Uninterruptibles.awaitUninterruptibly(mayClose);
                    closed.countDown();
                    yield null;
                }
                case "listen", "noteWanted", "probe", "read" -> null;
                default -> throw new UnsupportedOperationException(method.getName());
            };
        }
    }

    /** Opens fakes as soon as it is permitted. */
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
            return ssd.attached;
        }
    }

    @BeforeEach
    void makePlace() throws IOException {
        place = Files.createDirectory(folder.resolve("ssd"));
        Files.createFile(place.resolve("something"));
    }

    private SsdLifecycle lifecycle(Path location) {
        SsdLifecycle lifecycle =
                new SsdLifecycle(location, new FakeOpener(), TIMELINE, "test", () -> {}, nanos::get, limit);
        lifecycle.listen((SsdEvent event) -> events.add(event.state()));
        return lifecycle;
    }

    private SsdLifecycle mounted() {
        SsdLifecycle lifecycle = lifecycle(place);
        lifecycle.openAtMount(1000, MEMORY);
        assertEquals(SsdState.ONLINE, lifecycle.state());
        return lifecycle;
    }

    private static OfferAnswer offer(SsdLifecycle lifecycle) {
        return lifecycle.offer(1, 0, 5, 100, Cause.WRITE, new byte[8], 0, 8);
    }

    @Test
    void withoutALocationThereIsNone() {
        SsdLifecycle lifecycle = lifecycle(null);
        lifecycle.openAtMount(1000, MEMORY);
        assertEquals(SsdState.NONE, lifecycle.state());
        assertNull(lifecycle.attached());
        assertEquals(OfferAnswer.UNAVAILABLE, offer(lifecycle));
    }

    @Test
    void countersGoOnOverDetachAndAttach() throws IOException {
        SsdLifecycle lifecycle = mounted();
        opened.get(0).written = 30;
        assertEquals(30, lifecycle.logStatistics().writtenRecords());
        lifecycle.detach();
        assertEquals(30, lifecycle.logStatistics().writtenRecords());
        lifecycle.attach(place, 1000, MEMORY);
        assertEquals(30, lifecycle.logStatistics().writtenRecords(), "each SSD counts from 0");
        opened.get(1).written = 12;
        assertEquals(42, lifecycle.logStatistics().writtenRecords());
        opened.get(1).fail("no answer", 100);
        assertNull(lifecycle.attached());
        assertEquals(42, lifecycle.logStatistics().writtenRecords());
    }

    /** What an SSD has accepted is written while it is closed. */
    @Test
    void whatIsWrittenDuringTheClosingCounts() throws Exception {
        SsdLifecycle lifecycle = mounted();
        FakeSsd first = opened.get(0);
        first.mayClose = new CountDownLatch(1);
        first.written = 30;
        var detaching = new FutureTask<Void>(() -> {
            lifecycle.detach();
            return null;
        });
        new Thread(detaching, "detach").start();
        TestWait.until(() -> lifecycle.attached() == null);
        first.written = 40;
        assertEquals(40, lifecycle.logStatistics().writtenRecords());
        first.written = 50;
        first.mayClose.countDown();
        detaching.get();
        assertEquals(50, lifecycle.logStatistics().writtenRecords());
        first.written = 60;
        assertEquals(50, lifecycle.logStatistics().writtenRecords(), "one that is closed is not kept");
    }

    @Test
    void aMissingFolderIsNotMadeAtMount() throws IOException {
        Path missing = folder.resolve("missing");
        SsdLifecycle lifecycle = lifecycle(missing);
        lifecycle.openAtMount(1000, MEMORY);
        assertEquals(SsdState.DETACHED, lifecycle.state());
        assertTrue(lifecycle.reason().contains("not mounted"), lifecycle.reason());
        assertFalse(Files.exists(missing));
        assertEquals(List.of(SsdState.DETACHED), events);
    }

    @Test
    void anEmptyFolderIsNotFilledAtMountButTakenWhenAttached() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        SsdLifecycle lifecycle = lifecycle(empty);
        lifecycle.openAtMount(1000, MEMORY);
        assertEquals(SsdState.DETACHED, lifecycle.state());
        lifecycle.attach(empty, 1000, MEMORY);
        assertEquals(SsdState.ONLINE, lifecycle.state());
        assertEquals("", lifecycle.reason());
        assertEquals(OfferAnswer.TAKEN, offer(lifecycle));
    }

    @Test
    void anSsdThatCannotBeOpenedLeavesTheVolumeWithout() {
        refusal = new IOException("it is of another volume");
        SsdLifecycle lifecycle = lifecycle(place);
        lifecycle.openAtMount(1000, MEMORY);
        assertEquals(SsdState.FAILED, lifecycle.state());
        assertTrue(lifecycle.reason().contains("another volume"), lifecycle.reason());
        assertEquals(List.of(SsdState.FAILED), events);
    }

    @Test
    void anSsdThatHangsAtMountLeavesTheVolumeWithoutAndIsClosedWhenItAnswers() throws Exception {
        mayOpen = new CountDownLatch(1);
        limit = Duration.ofMillis(50);
        SsdLifecycle lifecycle = lifecycle(place);
        TestWait.until(() -> {
            events.clear();
            lifecycle.openAtMount(1000, MEMORY);
            // On a busy machine the limit may be over before the SSD is asked.
            return !hanging.isEmpty();
        });
        assertEquals(SsdState.FAILED, lifecycle.state());
        assertTrue(lifecycle.reason().contains("did not end within"), lifecycle.reason());
        assertEquals(List.of(SsdState.FAILED), events);
        mayOpen.countDown();
        assertTrue(hanging.get(0).closed.await(1, TimeUnit.MINUTES));
        assertNull(lifecycle.attached());
    }

    @Test
    void aHungSsdThatIsAttachedIsRefusedAndTheOneInUseStays() {
        limit = Duration.ofSeconds(1);
        SsdLifecycle lifecycle = lifecycle(place);
        TestWait.until(() -> {
            lifecycle.openAtMount(1000, MEMORY);
            // A busy machine may need longer than the limit for an SSD that does not hang.
            return lifecycle.state() == SsdState.ONLINE;
        });
        mayClaim = new CountDownLatch(1);
        assertThrows(IOException.class, () -> lifecycle.attach(place, 1000, MEMORY));
        assertEquals(SsdState.ONLINE, lifecycle.state());
        mayClaim.countDown();
    }

    @Test
    void anSsdThatIsReadOnlyAtMountSaysSoAtOnce() {
        readOnly = true;
        SsdLifecycle lifecycle = lifecycle(place);
        lifecycle.openAtMount(1000, MEMORY);
        assertEquals(SsdState.READ_ONLY, lifecycle.state());
        assertTrue(lifecycle.reason().contains("Read-only file system"), lifecycle.reason());
        assertNotNull(lifecycle.attached());
        assertEquals(OfferAnswer.UNAVAILABLE, offer(lifecycle));
        assertEquals(List.of(SsdState.READ_ONLY), events);
    }

    @Test
    void attachingTellsWhyItFails() throws IOException {
        SsdLifecycle lifecycle = mounted();
        claimRefusal = new IOException("it is not empty");
        IOException refused = assertThrows(IOException.class, () -> lifecycle.attach(place, 1000, MEMORY));
        assertTrue(refused.getMessage().contains("not empty"), refused.getMessage());
        claimRefusal = null;
        assertEquals(SsdState.ONLINE, lifecycle.state(), "the one in use stays");
        refusal = new IOException("it is of another volume");
        assertThrows(IOException.class, () -> lifecycle.attach(place, 1000, MEMORY));
        assertEquals(SsdState.DETACHED, lifecycle.state());
        refusal = null;
        lifecycle.attach(place, 1000, MEMORY);
        assertEquals(SsdState.ONLINE, lifecycle.state());
    }

    @Test
    void detachingClosesAndTheTargetFollows() throws IOException {
        SsdLifecycle lifecycle = mounted();
        assertTrue(lifecycle.contains(1));
        lifecycle.detach();
        assertEquals(SsdState.DETACHED, lifecycle.state());
        assertEquals(0, opened.get(0).closed.getCount());
        assertFalse(lifecycle.contains(1));
        assertEquals(OfferAnswer.UNAVAILABLE, offer(lifecycle));
        lifecycle.attach(place, 1000, MEMORY);
        assertEquals(OfferAnswer.TAKEN, offer(lifecycle));
        opened.get(0).fail("Input/output error", 100);
        assertEquals(SsdState.ONLINE, lifecycle.state(), "of an SSD that is not in use any more");
    }

    @Test
    void anSsdThatFailsTooOftenIsGivenUpWithOneEvent() throws Exception {
        SsdLifecycle lifecycle = mounted();
        opened.get(0).fail("Input/output error", SsdLifecycle.MOST_FAILURES_IN_A_ROW - 1);
        assertEquals(SsdState.ONLINE, lifecycle.state());
        assertEquals(List.of(), events);
        opened.get(0).fail("Input/output error", 50);
        assertEquals(SsdState.FAILED, lifecycle.state());
        assertNull(lifecycle.attached());
        assertEquals(List.of(SsdState.FAILED), events);
        assertTrue(opened.get(0).closed.await(1, TimeUnit.MINUTES));
        lifecycle.attach(place, 1000, MEMORY);
        assertEquals(SsdState.ONLINE, lifecycle.state());
    }

    @Test
    void aPlaceIsOpenedAgainWhenItsFailedSsdIsClosed() throws Exception {
        SsdLifecycle lifecycle = mounted();
        FakeSsd failed = opened.get(0);
        failed.mayClose = new CountDownLatch(1);
        failed.fail("Input/output error", SsdLifecycle.MOST_FAILURES_IN_A_ROW);
        assertEquals(SsdState.FAILED, lifecycle.state());
        FutureTask<Integer> attaching = new FutureTask<>(() -> {
            lifecycle.attach(place, 1000, MEMORY);
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
        SsdLifecycle lifecycle = mounted();
        for (int i = 0; i < 5; i++) {
            opened.get(0).fail("Input/output error", SsdLifecycle.MOST_FAILURES_IN_A_ROW - 1);
            lifecycle.onGoodRead();
        }
        assertEquals(SsdState.ONLINE, lifecycle.state());
        assertNotNull(lifecycle.attached());
    }

    @Test
    void anSsdThatTakesNoWritesIsReadOn() {
        for (String message : List.of("/ssd/1.log: Read-only file system", "/ssd/1.log: No space left on device")) {
            SsdLifecycle lifecycle = mounted();
            opened.get(opened.size() - 1).fail(message, 100);
            assertEquals(SsdState.READ_ONLY, lifecycle.state());
            assertNotNull(lifecycle.attached());
            assertEquals(OfferAnswer.UNAVAILABLE, offer(lifecycle));
        }
        assertEquals(List.of(SsdState.READ_ONLY, SsdState.READ_ONLY), events, "one for each");
    }

    @Test
    void aFullDiskIsKnownByItsExceptionToo() {
        SsdLifecycle lifecycle = mounted();
        opened.get(0).failure.accept(new IOException("a batch is lost", new NoSpaceException("full")));
        assertEquals(SsdState.READ_ONLY, lifecycle.state());
    }

    @Test
    void anSsdWhoseWritesFailForAnyReasonIsReadOnToo() {
        SsdLifecycle lifecycle = mounted();
        FakeSsd ssd = opened.get(0);
        IOException failure = new SsdWriteException(new IOException("Input/output error"));
        for (int i = 0; i < 50; i++) {
            ssd.failure.accept(failure);
            ssd.written++;
        }
        assertEquals(SsdState.ONLINE, lifecycle.state(), "some are written");
        for (int i = 0; i < SsdLifecycle.MOST_WRITE_FAILURES_IN_A_ROW; i++) {
            ssd.failure.accept(failure);
        }
        assertEquals(SsdState.READ_ONLY, lifecycle.state());
        assertTrue(lifecycle.reason().contains("Input/output error"), lifecycle.reason());
        assertEquals(List.of(SsdState.READ_ONLY), events);
    }

    @Test
    void wrongBytesAreToldOnceAndTheSsdIsUsedOn() throws IOException {
        SsdLifecycle lifecycle = mounted();
        for (int i = 0; i < 50; i++) {
            opened.get(0).failure.accept(new CorruptionException("00000.segment", 40, "a record", "something else"));
        }
        assertEquals(SsdState.ONLINE, lifecycle.state());
        assertTrue(lifecycle.reason().contains("wrong bytes"), lifecycle.reason());
        assertEquals(List.of(SsdState.ONLINE), events);
        lifecycle.attach(place, 1000, MEMORY);
        assertEquals("", lifecycle.reason());
    }

    @Test
    void writingIsTriedAgainAndGoesOnOnceItSucceeds() {
        SsdLifecycle lifecycle = mounted();
        opened.get(0).fail("No space left on device", 1);
        assertEquals(OfferAnswer.UNAVAILABLE, offer(lifecycle));
        nanos.addAndGet(SsdLifecycle.WRITE_PAUSE.toNanos());
        assertEquals(OfferAnswer.TAKEN, offer(lifecycle), "a trial");
        assertEquals(SsdState.READ_ONLY, lifecycle.state());
        opened.get(0).fail("No space left on device", 1);
        assertEquals(OfferAnswer.UNAVAILABLE, offer(lifecycle));
        nanos.addAndGet(SsdLifecycle.WRITE_PAUSE.toNanos());
        assertEquals(OfferAnswer.TAKEN, offer(lifecycle));
        opened.get(0).written++;
        assertEquals(OfferAnswer.TAKEN, offer(lifecycle));
        assertEquals(SsdState.ONLINE, lifecycle.state());
        assertEquals(List.of(SsdState.READ_ONLY, SsdState.ONLINE), events);
    }

    @Test
    void aSlowSsdIsSuspendedWithOneEvent() throws IOException {
        SsdLifecycle lifecycle = mounted();
        lifecycle.onSuspended(Duration.ofSeconds(1));
        lifecycle.onSuspended(Duration.ofSeconds(2));
        assertEquals(SsdState.SUSPENDED, lifecycle.state());
        assertTrue(lifecycle.reason().contains("slow"), lifecycle.reason());
        lifecycle.onResumed();
        assertEquals(SsdState.ONLINE, lifecycle.state());
        assertEquals("", lifecycle.reason());
        assertEquals(List.of(SsdState.SUSPENDED, SsdState.ONLINE), events);
        lifecycle.onSuspended(Duration.ofSeconds(1));
        lifecycle.attach(place, 1000, MEMORY);
        assertEquals(SsdState.ONLINE, lifecycle.state(), "another SSD");
    }

    @Test
    void nothingIsAttachedAfterClosing() {
        SsdLifecycle lifecycle = mounted();
        lifecycle.close();
        lifecycle.close();
        assertEquals(0, opened.get(0).closed.getCount());
        assertThrows(IOException.class, () -> lifecycle.attach(place, 1000, MEMORY));
    }

    @Test
    void theMemoryIsDividedBetweenListAndTable() {
        assertEquals(1_000_000, HotChunks.lruItems(1_000_000, 64 << 20));
        assertEquals((64 << 20) / 24, HotChunks.lruItems(Integer.MAX_VALUE, 64 << 20), "a half at most");
        assertEquals(((64 << 20) - 12_000_000) / 24, HotChunks.mapEntries(1_000_000, 64 << 20));
    }
}
