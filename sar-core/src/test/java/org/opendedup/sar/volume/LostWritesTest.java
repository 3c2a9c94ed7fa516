package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;
import org.opendedup.sar.volume.write.UnsavedChangesException;

/**
 * Bytes that are written into a file whose recipe cannot be read: kept while that may pass, and otherwise reported. In
 * each test the recipe is only in the database when the bytes are written.
 */
@Timeout(120)
class LostWritesTest {
    private static final int BYTES = 300_000;
    private static final int ATTEMPTS = 10;
    private static final byte[] NAME = "file".getBytes(UTF_8);

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 40, Chunking.VARIABLE_SHA256);
    private final HookedStores stores = new HookedStores();
    private final byte[] content = new byte[BYTES];
    private Volume volume;
    private VolumeStores all;
    private long inode;

    /** Makes the exception of a read that fails. */
    private interface Failing {
        IOException make();
    }

    @BeforeEach
    void write() throws IOException {
        CrashDirectory containers = new CrashDirectory(1);
        var metadata = stores.hooked(new HeapKeyValueStore());
        all = new VolumeStores(containers, metadata, new HeapChunkIndex(), InstantSource.system());
        Volume.create(config, containers, metadata, InstantSource.system());
        volume = Volume.open(config, all, Verification.CHECKSUMS);
        inode = volume.makeNode(Inode.ROOT, NAME, 0100644, 0, new Owner(0, 0)).inode();
        new Random(1).nextBytes(content);
        write(0, content);
        volume.close();
        volume = Volume.open(config, all, Verification.CHECKSUMS);
        inode = volume.lookup(Inode.ROOT, NAME).inode();
        byte[] more = new byte[BYTES / 2];
        new Random(2).nextBytes(more);
        write(1000, more);
        System.arraycopy(more, 0, content, 1000, more.length);
    }

    @AfterEach
    void close() throws IOException {
        reads(null);
        volume.close();
    }

    private void write(long offset, byte[] bytes) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, offset, ByteBuffer.wrap(bytes));
        } finally {
            volume.close(file);
        }
    }

    private void fsync() throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.sync(file);
        } finally {
            volume.close(file);
        }
    }

    private byte[] read(int length) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(length);
        OpenFile file = volume.open(inode, false);
        try {
            while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {
                // Until the end.
            }
        } finally {
            volume.close(file);
        }
        return found.array();
    }

    /** From now on reads of recipes fail so, or work if it is null. */
    private void reads(Failing failing) {
        stores.hook = call -> {
            if (failing != null && call.what().equals("get") && call.file().equals("RECIPE")) {
                throw failing.make();
            }
            return call.proceed();
        };
    }

    private void fail() {
        reads(() -> new IOException("Input/output error"));
    }

    private void damage() {
        reads(() -> new CorruptionException("a recipe", 0, "a page", "nothing of use"));
    }

    /** From now on the counts cannot be read, which a run needs that is stored. */
    private void failCounts() {
        stores.hook = call -> {
            if (call.what().equals("get") && call.file().equals("COUNT")) {
                throw new IOException("Input/output error");
            }
            return call.proceed();
        };
    }

    private void storeInTheBackground() {
        volume.context().writer().storeEverythingLogging();
    }

    private long waitingBytes() {
        return volume.context().writer().unloggedBytes().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    /** What a sync acknowledged stays in the intent log, and is read and stored when that is possible again. */
    @Test
    void acknowledgedBytesThatCannotBeStoredAreNotGivenUp() throws IOException {
        volume.sync();
        volume.close();
        volume = Volume.open(config, all, Verification.CHECKSUMS);
        inode = volume.lookup(Inode.ROOT, NAME).inode();
        byte[] few = new byte[100];
        new Random(3).nextBytes(few);
        write(BYTES, few);
        fsync();
        byte[] unsynced = new byte[100];
        write(BYTES + 100, unsynced);
        stores.hook = call -> {
            if (call.what().equals("get") && call.file().equals("COUNT")) {
                throw new CorruptionException("a container", 0, "counts", "nothing of use");
            }
            return call.proceed();
        };
        assertThrows(IOException.class, volume::sync, "control: the bytes could be stored");
        assertArrayEquals(few, Arrays.copyOfRange(read(BYTES + 100), BYTES, BYTES + 100));
        reads(null);
        volume.commit();
        VolumeInMemory.abandon(volume);
        volume = Volume.open(config, all, Verification.CHECKSUMS);
        inode = volume.lookup(Inode.ROOT, NAME).inode();
        assertArrayEquals(few, Arrays.copyOfRange(read(BYTES + 100), BYTES, BYTES + 100));
        volume.sync();
        assertArrayEquals(few, Arrays.copyOfRange(read(BYTES + 100), BYTES, BYTES + 100));
    }

    /** Bytes that the intent log has are durable, whether or not an attempt to store them failed since. */
    @Test
    void acknowledgedBytesThatWaitAreNeitherLoggedAgainNorReportedAsLost() throws IOException {
        volume.sync();
        volume.close();
        volume = Volume.open(config, all, Verification.CHECKSUMS);
        inode = volume.lookup(Inode.ROOT, NAME).inode();
        byte[] few = new byte[100];
        new Random(3).nextBytes(few);
        write(BYTES, few);
        fsync();
        long logged = volume.context().writer().intents().bytes();
        failCounts();
        storeInTheBackground();
        assertTrue(volume.context().dirtyBudget().usedBytes() > 0, "control: the bytes could be stored");
        assertEquals(0, waitingBytes());
        reads(null);
        fsync();
        assertEquals(logged, volume.context().writer().intents().bytes());
        write(BYTES + 50, few);
        failCounts();
        storeInTheBackground();
        assertEquals(few.length, waitingBytes(), "those that no sync acknowledged");
        reads(null);
        fsync();
        assertEquals(0, waitingBytes());
        failCounts();
        IOException failed = assertThrows(IOException.class, volume::close);
        assertFalse(failed instanceof UnsavedChangesException, failed::toString);
        reads(null);
        volume = Volume.open(config, all, Verification.CHECKSUMS);
        inode = volume.lookup(Inode.ROOT, NAME).inode();
        assertArrayEquals(few, Arrays.copyOfRange(read(BYTES + 150), BYTES + 50, BYTES + 150));
        volume.sync();
    }

    @Test
    void aBurstOfErrorsLosesNothingAndMeanwhileTheBytesAreRead() throws IOException {
        fail();
        for (int i = 0; i < ATTEMPTS; i++) {
            storeInTheBackground();
            assertThrows(IOException.class, this::fsync);
            assertThrows(IOException.class, volume::sync);
            assertEquals(BYTES / 2, waitingBytes());
        }
        OpenFile file = volume.open(inode, false);
        ByteBuffer kept = ByteBuffer.allocate(BYTES / 2);
        volume.read(file, 1000, kept);
        volume.close(file);
        reads(null);
        fsync();
        volume.sync();
        assertEquals(0, waitingBytes());
        assertEquals(0, volume.context().dirtyBudget().usedBytes());
        assertArrayEquals(content, read(BYTES));
        assertEquals(ByteBuffer.wrap(content, 1000, BYTES / 2), kept.flip());
    }

    @Test
    void bytesThatAreGivenUpInTheBackgroundAreReportedByOneSyncOfAll() throws IOException {
        damage();
        storeInTheBackground();
        assertEquals(0, waitingBytes());
        assertEquals(0, volume.context().dirtyBudget().usedBytes());
        reads(null);
        assertThrows(IOException.class, volume::sync);
        volume.sync();
        assertThrows(IOException.class, this::fsync, "a file reports it too");
    }

    /** A reader has read everything, and what its close(2) reports no writer hears of. */
    @Test
    void aReaderThatClosesTheFileLeavesTheReportToTheNextFsync() throws IOException {
        damage();
        storeInTheBackground();
        reads(null);
        OpenFile reader = volume.open(inode, false);
        volume.flush(reader);
        volume.close(reader);
        assertThrows(IOException.class, this::fsync);
        fsync();
    }

    /** The kernel forgets a file that nobody has open when it needs memory. */
    @Test
    void bytesThatAreGivenUpAreReportedAlsoIfTheKernelForgotTheFile() throws IOException {
        volume.forget(inode, 1);
        damage();
        storeInTheBackground();
        reads(null);
        volume.commit();
        assertThrows(IOException.class, this::fsync);
        fsync();
    }

    @Test
    void aSyncThatGivesBytesUpReportsItOnce() throws IOException {
        damage();
        assertThrows(CorruptionException.class, volume::sync);
        reads(null);
        volume.sync();
    }

    @Test
    void bytesThatWaitAreDroppedWithTheirFile() throws IOException {
        fail();
        storeInTheBackground();
        assertTrue(volume.context().dirtyBudget().usedBytes() > 0);
        volume.unlink(Inode.ROOT, NAME);
        volume.forget(inode, 1);
        assertEquals(0, volume.context().dirtyBudget().usedBytes());
        reads(null);
        volume.sync();
    }

    @Test
    void bytesThatWaitAreDroppedWhenTheFileIsTruncated() throws IOException {
        fail();
        storeInTheBackground();
        reads(null);
        volume.change(inode, AttributeChange.ofSize(0));
        assertEquals(0, volume.context().dirtyBudget().usedBytes());
        volume.sync();
        assertArrayEquals(new byte[BYTES], read(BYTES));
    }

    @Test
    void anUnmountThatCannotStoreThemSaysSo() throws IOException {
        fail();
        storeInTheBackground();
        assertThrows(UnsavedChangesException.class, volume::close);
    }
}
