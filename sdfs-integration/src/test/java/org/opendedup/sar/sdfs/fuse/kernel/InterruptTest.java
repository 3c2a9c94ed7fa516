package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.DeviceNumber;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.Shell;

/** Programs that get signals while a read of theirs hangs. */
@Timeout(120)
class InterruptTest {
    private final HangingFileSystem hanging = new HangingFileSystem();

    /** Its reads begin, and end when the test lets them. */
    private static final class HangingFileSystem extends MemoryFileSystem implements AutoCloseable {
        final Semaphore begun = new Semaphore(0);
        final CountDownLatch release = new CountDownLatch(1);

        @Override
        public int read(long handle, long offset, ByteBuffer target) throws IOException {
            begun.release();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return super.read(handle, offset, target);
        }

        @Override
        public void close() {
            release.countDown();
        }
    }

    private MountedToy mount(IntPredicate killed) throws IOException {
        MountedToy toy = new MountedToy(hanging, "rw", null, killed);
        Files.write(toy.root.resolve("f"), new byte[8192]);
        return toy;
    }

    /** Starts a reader, and waits until its read hangs. */
    private Process reader(MountedToy toy) throws IOException, InterruptedException {
        Process reader = new ProcessBuilder("dd", "if=f", "of=/dev/null", "bs=4096", "iflag=direct")
                .directory(toy.root.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertTrue(hanging.begun.tryAcquire(30, TimeUnit.SECONDS), "no read came");
        return reader;
    }

    @AfterEach
    void closeVolume() throws IOException {
        hanging.closeVolume();
    }

    @Test
    void aKilledReaderGoesThoughItsReadHangs() throws Exception {
        try (MountedToy toy = mount(ThreadStatus::isKilled);
                hanging) {
            Process reader = reader(toy);
            reader.destroyForcibly();
            assertTrue(reader.waitFor(30, TimeUnit.SECONDS));
            hanging.close();
            assertEquals("8192", toy.shell("dd if=f bs=4096 iflag=direct status=none | wc -c"));
        }
    }

    /** The kernel gives the number of a connection that it has ended to the next mount. */
    @Test
    void aMountThatGotTheNumberOfAnEndedOneIsLeftAlone() throws Exception {
        Assumptions.assumeTrue(new Libc().functions().geteuid() == 0, "skipped: only root unmounts by umount");
        var memory = new MemoryFileSystem();
        List<MountedToy> others = new ArrayList<>();
        try (MountedToy toy = mount(ThreadStatus::isKilled);
                hanging) {
            long number = DeviceNumber.of(toy.root);
            Process reader = reader(toy);
            reader.destroyForcibly();
            assertTrue(reader.waitFor(30, TimeUnit.SECONDS));
            assertEquals("", Shell.run(Path.of("/"), "umount -i " + toy.root));
            do {
                Assumptions.assumeTrue(others.size() < 20, "skipped: others took the number");
                others.add(new MountedToy(memory));
            } while (DeviceNumber.of(others.get(others.size() - 1).root) != number);
            IOException refused = assertThrows(IOException.class, () -> toy.mount.close(100));
            assertTrue(refused.getMessage().contains("does not end"), refused.getMessage());
            MountedToy other = others.get(others.size() - 1);
            other.shell("ls");
            assertEquals(number, DeviceNumber.of(other.root), "it is still mounted");
            assertEquals("hello", other.shell("echo hello > f; cat f"));
        } finally {
            for (MountedToy other : others) {
                other.close();
            }
            memory.closeVolume();
        }
    }

    @Test
    void withoutThatItStays() throws Exception {
        try (MountedToy toy = mount(thread -> false);
                hanging) {
            Process reader = reader(toy);
            reader.destroyForcibly();
            assertFalse(reader.waitFor(1, TimeUnit.SECONDS));
            hanging.close();
            assertTrue(reader.waitFor(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void anAbortedConnectionEndsThoughAReadHangs() throws Exception {
        Libc libc = new Libc();
        Assumptions.assumeTrue(libc.functions().geteuid() == 0, "skipped: only root detaches a mount itself");
        try (MountedToy toy = mount(thread -> false);
                hanging) {
            Process reader = reader(toy);
            new DirectMounter(libc).detach(toy.root);
            assertTrue(reader.waitFor(30, TimeUnit.SECONDS));
            assertEquals(1, reader.exitValue(), "its read failed");
            hanging.close();
            toy.mount.awaitEnd();
            assertTrue(hanging.hasEnded());
        }
    }

    @Test
    void aSignalThatKillsNobodyDoesNotEndARead() throws Exception {
        try (MountedToy toy = mount(ThreadStatus::isKilled);
                hanging) {
            Process reader = reader(toy);
            // dd catches it, to tell how far it is.
            assertEquals("", toy.shell("kill -USR1 " + reader.pid()));
            assertFalse(reader.waitFor(1, TimeUnit.SECONDS));
            hanging.close();
            assertTrue(reader.waitFor(30, TimeUnit.SECONDS));
            assertEquals(0, reader.exitValue());
        }
    }

    @Test
    void aReaderIsKilledAfterASignalThatDidNot() throws Exception {
        try (MountedToy toy = mount(ThreadStatus::isKilled);
                hanging) {
            Process reader = reader(toy);
            assertEquals("", toy.shell("kill -USR1 " + reader.pid()));
            assertFalse(reader.waitFor(1, TimeUnit.SECONDS));
            reader.destroyForcibly();
            assertTrue(reader.waitFor(30, TimeUnit.SECONDS));
            hanging.close();
        }
    }
}
