package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;

/**
 * kill -9 of the daemon that mounts by libfuse, under load: everything fsynced exists after the next mount, and the
 * counts are right. {@code scripts/crash-loop} does the same to the default binding, many times.
 */
class KillTest {
    private static final int WRITERS = 3;
    /** Number of syncs before the daemon is killed, during the next one. */
    private static final int SYNCS = 60;

    @TempDir
    Path folder;

    /** Files that were synced and not changed afterwards, and the seeds of their bytes. */
    private final Map<Path, Long> synced = new ConcurrentHashMap<>();
    /** Synced bytes of each log; the log continues after them. */
    private final Map<Path, Long> syncedLogs = new ConcurrentHashMap<>();

    private final AtomicLong seeds = new AtomicLong();

    @Test
    void everythingSyncedSurvivesAKillUnderLoad() throws Exception {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("killed")))
                .inItsOwnProcess()) {
            volume.servedBy("jnr").mount();
            loadUntilKilled(volume);
            volume.mount();
            checkSynced();
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    private void loadUntilKilled(MountedVolume volume) throws Exception {
        CountDownLatch enough = new CountDownLatch(SYNCS);
        ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
        try {
            for (int writer = 0; writer < WRITERS; writer++) {
                Path own = Files.createDirectory(volume.mountPoint().resolve("writer-" + writer));
                writers.execute(() -> writeUntilError(own, enough));
            }
            assertTrue(enough.await(60, TimeUnit.SECONDS), "the writers came to nothing");
            volume.kill();
        } finally {
            writers.shutdown();
            assertTrue(writers.awaitTermination(60, TimeUnit.SECONDS), "a writer hangs after the kill");
        }
    }

    /** Ends with the first error: the daemon was killed. */
    private void writeUntilError(Path own, CountDownLatch enough) {
        Path log = own.resolve("log");
        try {
            for (int i = 0; ; i++) {
                long seed = seeds.incrementAndGet();
                Path temporary = own.resolve("file.tmp");
                Path file = own.resolve("file-" + i);
                Bytes.writeAndSync(temporary, contents(seed));
                Files.move(temporary, file);
                appendAndSync(log, i);
                // The rename is older than the log's fsync, which commits all pending changes.
                synced.put(file, seed);
                enough.countDown();
            }
        } catch (IOException e) {
            // The planned end of the load.
        }
    }

    /** Half of the files repeat the bytes of others, so that counts above one are tested. */
    private static byte[] contents(long seed) {
        return Bytes.random(seed % 2 == 0 ? seed % 16 : seed, 20_000 + (int) (seed * 7919 % 200_000));
    }

    private void appendAndSync(Path log, int record) throws IOException {
        try (FileChannel channel =
                FileChannel.open(log, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            byte[] bytes = new byte[100];
            Arrays.fill(bytes, (byte) record);
            channel.write(ByteBuffer.wrap(bytes));
            channel.force(false);
        }
        syncedLogs.put(log, 100L * (record + 1));
    }

    private void checkSynced() throws IOException {
        for (Map.Entry<Path, Long> file : synced.entrySet()) {
            assertArrayEquals(contents(file.getValue()), Files.readAllBytes(file.getKey()), () -> file + " is changed");
        }
        for (Map.Entry<Path, Long> log : syncedLogs.entrySet()) {
            byte[] bytes = Files.readAllBytes(log.getKey());
            assertTrue(bytes.length >= log.getValue(), () -> log + " has " + bytes.length + " bytes");
            for (int i = 0; i < log.getValue(); i++) {
                assertEquals((byte) (i / 100), bytes[i], "byte " + i + " of " + log.getKey());
            }
        }
    }
}
