package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Shell;
import org.opendedup.sar.sdfs.fuse.Syncers;

/** Mounts whose requests come over io_uring: the tests of the other mounts, and what is different here. */
@Timeout(120)
class RingMountTest {
    private static RingSwitch ringSwitch;
    private static String transportBefore;

    @BeforeAll
    static void turnOn() throws IOException {
        MountedToy.assumeFuse();
        ringSwitch = RingSwitch.on();
        transportBefore = MountedToy.transport;
        MountedToy.transport = "io_uring";
    }

    @AfterAll
    static void turnOff() {
        if (ringSwitch != null) {
            MountedToy.transport = transportBefore;
            ringSwitch.close();
        }
    }

    @Nested
    class Mounts extends KernelMountTest {}

    @Nested
    class PassedThrough extends PassthroughMountTest {}

    @Nested
    class Interrupted extends InterruptTest {}

    @Nested
    class Syncs extends LateSyncsTest {}

    /** Its reads wait for {@link #release}, its searches until as many have come as {@link #seeks} counts. */
    private static final class GatedFileSystem extends MemoryFileSystem implements AutoCloseable {
        final AtomicInteger reading = new AtomicInteger();
        final CountDownLatch release = new CountDownLatch(1);
        final CountDownLatch seeks;

        GatedFileSystem(int seeks) {
            this.seeks = new CountDownLatch(seeks);
        }

        @Override
        public int read(long handle, long offset, ByteBuffer target) throws IOException {
            reading.incrementAndGet();
            await(release);
            return super.read(handle, offset, target);
        }

        @Override
        public boolean hasWriters(long handle) {
            seeks.countDown();
            try {
                await(seeks);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            return true;
        }

        private static void await(CountDownLatch latch) throws IOException {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public void close() {
            release.countDown();
            while (seeks.getCount() > 0) {
                seeks.countDown();
            }
        }
    }

    private static MountedToy mount(MemoryFileSystem files, Libc libc, RingPlan.Source plans) throws IOException {
        return new MountedToy(files, "rw", null, PendingSignals::killed, libc, plans);
    }

    /** Returns the plan of the mounts here. */
    private static RingPlan plan() throws IOException {
        return RingPlan.of(MountOptions.of(Path.of("/"), "toy").withThreads(4).with("io_uring"));
    }

    private static List<Path> files(MountedToy toy, int count, int bytes) throws IOException {
        for (int i = 0; i < count; i++) {
            Files.write(toy.root.resolve("f" + i), new byte[bytes]);
        }
        return Stream.iterate(0, i -> i + 1)
                .limit(count)
                .map(i -> toy.root.resolve("f" + i))
                .toList();
    }

    /** Ends the connection while programs use it, as {@code umount -f -l} does. */
    private static void abort(MountedToy toy) throws IOException {
        new DirectMounter(new Libc()).detach(toy.root);
    }

    private static boolean serves(String thread) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(t -> t.getName().startsWith(thread));
    }

    @Test
    void eachProcessorHasItsThreads() throws Exception {
        try (MountedToy toy = new MountedToy(new MemoryFileSystem())) {
            for (int i = 0; i < plan().queues(); i++) {
                assertTrue(serves("fuse-ring-" + i), "processor " + i);
            }
            assertFalse(serves("fuse-1"), "one thread is enough for the descriptor");
            assertEquals("1", toy.shell("echo 1 > a; mv a b; cat b"));
        }
        assertFalse(serves("fuse-ring-"));
    }

    @Test
    void requestsOfAllSizesComeThrough() throws Exception {
        try (MountedToy toy = new MountedToy(new MemoryFileSystem())) {
            for (int bytes : new int[] {1, 4095, 4096, 65_537, 1 << 20, 9_000_001}) {
                byte[] content = Shell.randomBytes(bytes);
                Path file = toy.root.resolve("f" + bytes);
                Files.write(file, content);
                toy.dropKernelCaches();
                assertArrayEquals(content, Files.readAllBytes(file));
            }
        }
    }

    @Test
    void whenAllEntriesAreBusyTheRestWaitsAndIsServed() throws Exception {
        int clients = 2 * plan().entries();
        try (GatedFileSystem gated = new GatedFileSystem(0);
                MountedToy toy = mount(gated, new Libc(), RingPlan::of);
                RingClients readers = new RingClients(clients)) {
            List<Path> files = files(toy, clients, 4096);
            for (int i = 0; i < clients; i++) {
                readers.read(files.get(i), i % plan().queues());
            }
            assertTrue(readers.stay(0));
            assertEquals(4, gated.reading.get(), "threads=4: so many move data at the same time");
            gated.close();
            assertEquals(Collections.nCopies(clients, 4096L), readers.results());
            assertEquals(clients, gated.reading.get());
        }
    }

    @Test
    void moreProgramsThanEntriesWaitForACommit() throws Exception {
        try (MountedToy toy = new MountedToy(new MemoryFileSystem());
                Syncers syncers = Syncers.start(toy.root, 2 * plan().entries())) {
            assertEquals(0, syncers.failures());
        }
    }

    /** All entries of a processor hold a search that needs a write of the kernel, which needs an entry there. */
    @Test
    void searchesThatWaitForWritesLeaveAnEntryForThem() throws Exception {
        int entries = plan().threadsOf(0);
        int clients = entries + 8;
        try (GatedFileSystem gated = new GatedFileSystem(entries);
                MountedToy toy = mount(gated, new Libc(), RingPlan::of);
                RingClients seekers = new RingClients(clients)) {
            for (Path file : files(toy, clients, 4096)) {
                seekers.writeAndSeekHole(file, 0);
            }
            assertEquals(Collections.nCopies(clients, 4096L), seekers.results());
        }
    }

    /** The control: without an entry that never waits, they wait for ever. */
    @Test
    void withoutThatEntryTheyWouldWaitForEver() throws Exception {
        int entries = plan().threadsOf(0);
        RingPlan.Source unsafe = options -> {
            RingPlan safe = RingPlan.of(options);
            return new RingPlan(safe.processors(), safe.perProcessor(), safe.dataThreads(), 0);
        };
        try (GatedFileSystem gated = new GatedFileSystem(entries);
                MountedToy toy = mount(gated, new Libc(), unsafe);
                RingClients seekers = new RingClients(entries)) {
            try {
                for (Path file : files(toy, entries, 4096)) {
                    seekers.writeAndSeekHole(file, 0);
                }
                assertTrue(gated.seeks.await(60, TimeUnit.SECONDS));
                assertTrue(seekers.stay(0));
            } finally {
                abort(toy);
            }
            assertEquals(Collections.nCopies(entries, RingClients.connectionAborted()), seekers.results());
            toy.mount.awaitEnd();
        }
    }

    @Test
    void anAbortedConnectionEndsThoughRequestsHang() throws Exception {
        try (GatedFileSystem gated = new GatedFileSystem(0);
                MountedToy toy = mount(gated, new Libc(), RingPlan::of);
                RingClients readers = new RingClients(8)) {
            for (Path file : files(toy, 8, 4096)) {
                readers.read(file, 0);
            }
            assertTrue(readers.stay(0));
            abort(toy);
            assertEquals(Collections.nCopies(8, RingClients.connectionAborted()), readers.results());
            gated.close();
            toy.mount.awaitEnd();
            assertTrue(gated.hasEnded());
        }
    }

    @Test
    void memoryOfLargeRequestsIsGivenBackWhenItIsIdle() throws Exception {
        try (MountedToy toy = new MountedToy(new MemoryFileSystem())) {
            long before = sharedKib();
            toy.shell("for i in 1 2 3 4; do head -c 30000000 /dev/zero > f$i & done; wait; sync -f .");
            long large = sharedKib();
            assertTrue(large > before + 1024, () -> before + " KiB before, " + large + " after");
            // Its limit is 10 seconds; the limit of this class ends the test if it never happens.
            while (sharedKib() > before + 1024) {
                Thread.sleep(200);
            }
            assertEquals("1", toy.shell("echo 1 > a; cat a"));
        }
    }

    /** Returns the memory of this process that is not its own alone: that of requests is a file in memory. */
    private static long sharedKib() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String line =
                    lines.filter(l -> l.startsWith("RssShmem:")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
    }

    @Test
    void nothingIsLeftAfterManyMounts() throws Exception {
        new MountedToy(new MemoryFileSystem()).close();
        long before = descriptors();
        for (int i = 0; i < 5; i++) {
            try (MountedToy toy = new MountedToy(new MemoryFileSystem())) {
                assertEquals("1", toy.shell("echo 1 > a; cat a"));
            }
        }
        assertEquals(before, descriptors());
    }

    /** Returns how many descriptors this process has that a mount opens. */
    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(RingMountTest::isOfAMount).count();
        }
    }

    private static boolean isOfAMount(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.contains("io_uring") || target.contains("memfd:sdfs") || target.equals(Protocol.DEVICE);
        } catch (IOException e) {
            return false;
        }
    }

    /** A machine on which io_uring_setup fails, from the second call on, for {@code failures} calls. */
    private static final class FailingLibc extends Libc {
        private final AtomicInteger calls = new AtomicInteger();
        private final int failures;

        FailingLibc(int failures) {
            this.failures = failures;
        }

        @Override
        long systemCall(long number, long first, long second, long third, long fourth, long fifth) {
            if (number == IoRing.SETUP) {
                int call = calls.incrementAndGet();
                if (call > 1 && call <= 1 + failures) {
                    return -1;
                }
            }
            return super.systemCall(number, first, second, third, fourth, fifth);
        }
    }

    @Test
    void ifTheThreadsCannotBeginTheDescriptorServes() throws Exception {
        try (MountedToy toy = mount(new MemoryFileSystem(), new FailingLibc(plan().entries()), RingPlan::of)) {
            assertTrue(serves("fuse-1"));
            assertFalse(serves("fuse-ring-"));
            assertEquals(4 * Channel.BUFFER_BYTES, toy.mount.bufferBytes());
            assertEquals("1", toy.shell("echo 1 > a; mv a b; cat b; sync"));
        }
    }

    @Test
    void ifThatFailsTooNothingStaysMounted() throws Exception {
        long before = descriptors();
        assertThrows(
                IOException.class,
                () -> mount(new MemoryFileSystem(), new FailingLibc(Integer.MAX_VALUE - 1), RingPlan::of));
        assertEquals(before, descriptors());
        assertEquals("0", Shell.run(Path.of("/"), "grep -c '^toy ' /proc/mounts || true"));
    }

    @Test
    void theMountOptionTurnsItOff() throws Exception {
        try (MountedToy toy = new MountedToy(new MemoryFileSystem(), "noio_uring")) {
            assertFalse(serves("fuse-ring-"));
            assertEquals("1", toy.shell("echo 1 > a; cat a"));
        }
    }
}
