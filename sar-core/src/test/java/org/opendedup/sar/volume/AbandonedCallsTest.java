package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** A file is closed during a call on it, as when the caller is killed and the kernel no longer waits. */
@Timeout(120)
class AbandonedCallsTest {
    private static final int BYTES = 2 << 20;
    private static final int ROUNDS = 200;

    private final byte[] contents = new byte[BYTES];
    private VolumeInMemory stores;

    @AutoClose
    private Volume volume;

    private long inode;

    @BeforeEach
    void makeFile() throws IOException {
        VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.VARIABLE_SHA256);
        stores = VolumeInMemory.create(config, TestSeed.next());
        new Random(TestSeed.next()).nextBytes(contents);
        try (Volume made = stores.open()) {
            inode = made.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                    .inode();
            OpenFile file = made.open(inode, true);
            made.write(file, 0, ByteBuffer.wrap(contents));
            made.close(file);
        }
        volume = stores.open();
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
        assertEquals(0, volume.context().nodes().inUse(), "the last call has released the file");
    }

    private int read(OpenFile file, ByteBuffer target) throws IOException {
        return volume.read(file, 0, target);
    }

    @Test
    void aSyncGoesOnToItsEnd() throws IOException {
        new Random(TestSeed.next() + 1).nextBytes(contents);
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(contents));
        AtomicInteger syncs = new AtomicInteger();
        stores.watch((method, name) -> {
            if (method.equals("sync") && syncs.getAndIncrement() == 0) {
                volume.close(file);
            }
        });
        volume.sync(file);
        assertTrue(syncs.get() > 0, "the file was not closed during the sync");
        VolumeInMemory left = stores.crash(TestSeed.next());
        VolumeInMemory.abandon(volume);
        volume = left.open();
        ByteBuffer found = ByteBuffer.allocate(BYTES);
        read(volume.open(inode, false), found);
        assertEquals(ByteBuffer.wrap(contents), found.flip());
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
