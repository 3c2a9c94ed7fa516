package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * All of a volume on one disk that answers no request for a while, and then all of them. What a program reads meanwhile
 * is written meanwhile: the volume has it in its own memory. What the disk has already is in the page cache, from which
 * the kernel may remove it at any time.
 */
@Timeout(300)
class HangingDiskTest {
    private static final int BYTES = 2 << 20;
    private static final int FRESH_BYTES = 100_000;
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String HANG = "delay_ms 600000";
    private static final String GO_ON = "delay_ms 0";

    @TempDir
    Path folder;

    @Test
    void aDiskThatHangsDelaysSyncsAndLosesNothing() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (SlowDisk disk = SlowDisk.withoutJournal(folder);
                MountedVolume volume = MountedVolume.makeOn(disk.folder(), folder.resolve("pool"))) {
            volume.mount();
            Path safe = volume.mountPoint().resolve("safe");
            Bytes.writeAndSync(safe, Bytes.random(1, BYTES));
            Path fresh = volume.mountPoint().resolve("fresh");
            Path late = volume.mountPoint().resolve("late");
            disk.order(HANG);
            try {
                Future<?> sync = threads.submit(() -> {
                    Bytes.writeAndSync(late, Bytes.random(2, BYTES));
                    return null;
                });
                // Nothing of it can be on the disk: an answer now would be a lie.
                assertThrows(TimeoutException.class, () -> sync.get(500, TimeUnit.MILLISECONDS));
                // A thread that waits for the disk cannot be interrupted.
                assertTimeoutPreemptively(LIMIT, () -> Files.write(fresh, Bytes.random(3, FRESH_BYTES)));
                dropPageCache(fresh);
                dropPageCache(safe);
                dropPageCache(volume.data());
                byte[] read = assertTimeoutPreemptively(LIMIT, () -> Files.readAllBytes(fresh));
                assertArrayEquals(Bytes.random(3, FRESH_BYTES), read);
                // The control: what only the disk has waits for it.
                Future<byte[]> fromDisk = threads.submit(() -> Files.readAllBytes(safe));
                assertThrows(TimeoutException.class, () -> fromDisk.get(500, TimeUnit.MILLISECONDS));
                Commands.Result status = assertTimeoutPreemptively(LIMIT, () -> volume.cli("status"));
                assertFalse(status.output().isBlank());
                assertFalse(sync.isDone(), "the sync was answered while the disk hung");

                disk.order(GO_ON);
                sync.get(1, TimeUnit.MINUTES);
                assertArrayEquals(Bytes.random(1, BYTES), fromDisk.get(1, TimeUnit.MINUTES));
            } finally {
                disk.order(GO_ON);
            }
            // Threads that waited for the disk may go on a little later.
            TestWait.until(() -> volume.cli("status").exitCode() == 0);
            volume.remount();
            assertArrayEquals(Bytes.random(1, BYTES), Files.readAllBytes(safe));
            assertArrayEquals(Bytes.random(2, BYTES), Files.readAllBytes(late));
            assertArrayEquals(Bytes.random(3, FRESH_BYTES), Files.readAllBytes(fresh));
            volume.unmount();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Removes from the page cache what it has of files that is written: the next reader asks the volume. */
    private static void dropPageCache(Path files) throws IOException {
        Commands.succeed("find", files, "-type", "f", "-exec", "dd", "if={}", "iflag=nocache", "count=0", ";");
    }
}
