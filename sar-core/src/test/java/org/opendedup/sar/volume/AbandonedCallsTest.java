package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.posix.Owner;

/** A file is closed during a call on it, as when the caller is killed and the kernel no longer waits. */
@Timeout(120)
class AbandonedCallsTest {
    private static final int BYTES = 2 << 20;
    private static final int ROUNDS = 200;

    private final byte[] contents = new byte[BYTES];
    private Volume volume;
    private long inode;

    @BeforeEach
    void makeFile(@TempDir Path folder) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        new Random(TestSeed.next()).nextBytes(contents);
        try (Volume made = Volume.open(config)) {
            inode = made.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            OpenFile file = made.open(inode, true);
            made.write(file, 0, ByteBuffer.wrap(contents));
            made.close(file);
        }
        volume = Volume.open(config);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    @Test
    void aReadGoesOnToItsEnd() throws Exception {
        int read = 0;
        for (int round = 0; round < ROUNDS; round++) {
            OpenFile file = volume.open(inode, false);
            ByteBuffer target = ByteBuffer.allocate(BYTES);
            FutureTask<Integer> reading = new FutureTask<>(() -> read(file, target));
            Thread reader = new Thread(reading);
            reader.start();
            while (reader.isAlive() && target.position() == 0) {
                Thread.onSpinWait();
            }
            volume.close(file);
            read += reading.get();
            assertEquals(ByteBuffer.wrap(contents), target.flip());
        }
        assertEquals(ROUNDS * BYTES, read);
    }

    private int read(OpenFile file, ByteBuffer target) throws IOException {
        return volume.read(file, 0, target);
    }

    @Test
    void aSyncGoesOnToItsEnd() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            OpenFile file = volume.open(inode, true);
            volume.write(file, 0, ByteBuffer.wrap(contents, 0, 1000));
            FutureTask<Void> syncing = new FutureTask<>(() -> {
                volume.sync(file);
                return null;
            });
            Thread syncer = new Thread(syncing);
            syncer.start();
            while (syncer.getState() == Thread.State.NEW
                    || syncer.isAlive() && syncer.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
            volume.close(file);
            syncing.get();
        }
    }

    @Test
    void aCallThatBeginsLaterIsRefused() throws Exception {
        OpenFile file = volume.open(inode, false);
        volume.close(file);
        volume.close(file);
        PosixException refused = assertThrows(PosixException.class, () -> read(file, ByteBuffer.allocate(1)));
        assertEquals(PosixException.Reason.EBADF, refused.reason());
    }
}
