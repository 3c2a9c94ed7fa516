package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;

@Timeout(120)
class LockFileTest {
    private static final int ROUNDS = 2000;

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("Schloß.lock");
    }

    @Test
    void oneHoldsTheLockUntilItIsClosed() throws IOException {
        assertFalse(LockFile.isHeld(file));
        assertFalse(Files.exists(file), "looking makes no file");
        try (LockFile lock = LockFile.tryAcquire(file).orElseThrow()) {
            assertTrue(LockFile.tryAcquire(file).isEmpty());
            assertTrue(LockFile.isHeld(file));
            lock.close();
            assertFalse(LockFile.isHeld(file));
        }
        LockFile.tryAcquire(file).orElseThrow().close();
    }

    @Test
    void theKernelListsWhatIsHeld() throws IOException {
        assertFalse(LockFile.isListed(file), "there is no file");
        try (LockFile lock = LockFile.tryAcquire(file).orElseThrow()) {
            assertTrue(LockFile.isListed(file));
        }
        // The control, with several files: one may have the number of a file that another test has locked.
        int listed = 0;
        for (int i = 0; i < 10; i++) {
            listed += LockFile.isListed(Files.createFile(folder.resolve("unlocked" + i))) ? 1 : 0;
        }
        assertTrue(listed < 10);
    }

    @Test
    void openingTheFileElsewhereInTheProcessDoesNotEndTheLock() throws IOException {
        try (LockFile lock = LockFile.tryAcquire(file).orElseThrow()) {
            Files.readAllBytes(file);
            assertTrue(LockFile.isHeld(file));
            assertTrue(isHeldForOthers());
        }
        assertFalse(isHeldForOthers(), "the control");
    }

    /** As another process sees it, by the locks that belong to processes. */
    private boolean isHeldForOthers() throws IOException {
        String probe = "import fcntl,sys\nf=open(sys.argv[1],'r+')\ntry:\n fcntl.lockf(f,fcntl.LOCK_EX|fcntl.LOCK_NB)\n"
                + "except OSError:\n sys.exit(7)";
        Process process = new ProcessBuilder("python3", "-c", probe, file.toString())
                .inheritIO()
                .start();
        try {
            return process.waitFor() == 7;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Test
    void whoLooksIsNeverInTheWayOfOneWhoTakesTheLock() throws Exception {
        Files.createFile(file);
        AtomicBoolean end = new AtomicBoolean();
        AtomicLong polled = new AtomicLong();
        var polling = new FutureTask<>(() -> {
            while (!end.get()) {
                LockFile.isHeld(file);
                polled.incrementAndGet();
            }
            return polled.get();
        });
        new Thread(polling, "poll").start();
        // On a busy machine the lock would else be taken and released for the last time before somebody looks.
        TestWait.until(() -> polled.get() > 0 || polling.isDone());
        int missed = 0;
        for (int i = 0; i < ROUNDS; i++) {
            var lock = LockFile.tryAcquire(file);
            missed += lock.isEmpty() ? 1 : 0;
            lock.ifPresent(LockFile::close);
        }
        end.set(true);
        assertTrue(polling.get() > 0);
        assertEquals(0, missed);
    }

    @Test
    void aFolderThatIsMissingIsNamed() {
        Path missing = folder.resolve("missing/lock");
        var e = assertThrows(IOException.class, () -> LockFile.tryAcquire(missing));
        assertTrue(e.getMessage().contains(missing.toString()), e.getMessage());
    }
}
