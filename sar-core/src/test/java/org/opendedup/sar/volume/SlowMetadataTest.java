package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.GatedKeyValueStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A change waits for a read of the metadata database, as on a slow disk. At that moment a commit wants to freeze, and
 * then another change arrives. The other change must not wait for the read, whichever of the first change's reads it
 * is.
 */
@Timeout(120)
class SlowMetadataTest {
    private static final int MIB = 1 << 20;
    private static final Owner ROOT = new Owner(0, 0);
    /** Against hanging; no test waits that long. */
    private static final long LIMIT_S = 20;

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 40, Chunking.VARIABLE_SHA256);
    private final CrashDirectory containers = new CrashDirectory(1);
    private final GatedKeyValueStore metadata = new GatedKeyValueStore(new HeapKeyValueStore());
    private final List<Thread> threads = new ArrayList<>();
    private Volume volume;
    private int made;

    @BeforeEach
    void makeFiles() throws IOException {
        Volume.create(config, containers, metadata, InstantSource.system());
        volume = open();
        for (String name : List.of("a", "b")) {
            OpenFile file = volume.open(make(name), true);
            byte[] data = new byte[5 * MIB];
            new Random(name.hashCode()).nextBytes(data);
            volume.write(file, 0, ByteBuffer.wrap(data));
            volume.close(file);
        }
        volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("a"), ROOT);
        volume.close();
        // The records that a change needs are now only in the database.
        volume = open();
    }

    @AfterEach
    void close() throws Exception {
        metadata.open();
        for (Thread thread : threads) {
            thread.join();
        }
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private Volume open() throws IOException {
        return Volume.open(
                config,
                new VolumeStores(containers, metadata, new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private long make(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, ROOT).inode();
    }

    private long inode(String name) throws IOException {
        return volume.lookup(Inode.ROOT, bytes(name)).inode();
    }

    /** A change. */
    @FunctionalInterface
    private interface Work {
        void run() throws IOException;
    }

    private FutureTask<Void> start(Work work, boolean gated) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            work.run();
            return null;
        });
        Thread thread = new Thread(task);
        threads.add(thread);
        if (gated) {
            metadata.close(thread);
        }
        thread.start();
        return task;
    }

    private void assertNobodyWaitsFor(Work change) throws Exception {
        assertNobodyWaitsFor(change, true);
    }

    /** Runs a change; at each of its reads, a commit and other changes must succeed. */
    private void assertNobodyWaitsFor(Work change, boolean freezes) throws Exception {
        FutureTask<Void> slow = start(change, true);
        while (metadata.awaitRead(slow)) {
            Thread reader = threads.get(0);
            if (freezes) {
                assertEnds(volume.context().committer()::commit, reader);
            }
            assertEnds(() -> make("other " + made++), reader);
            metadata.letPass();
        }
        slow.get();
        assertTrue(metadata.reads() > 0, "the change read nothing");
    }

    private void assertEnds(Work work, Thread reader) throws Exception {
        FutureTask<Void> task = start(work, false);
        try {
            task.get(LIMIT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            AssertionError error = new AssertionError("waits for a read", e);
            error.setStackTrace(reader.getStackTrace());
            e.setStackTrace(threads.get(threads.size() - 1).getStackTrace());
            throw error;
        }
    }

    /**
     * The control: a change that reads with the change lock held. The commit waits for it, and so does the other
     * change.
     */
    @Test
    void aReadUnderTheChangeLockStopsEveryChange() throws Exception {
        long a = inode("a");
        Lock changes = volume.context().committer().changes();
        FutureTask<Void> slow = start(
                () -> {
                    changes.lock();
                    try {
                        volume.context().metadata().recipes().page(a, 0);
                    } finally {
                        changes.unlock();
                    }
                },
                true);
        assertTrue(metadata.awaitRead(slow));
        FutureTask<Void> commit = start(volume.context().committer()::commit, false);
        Thread committing = threads.get(threads.size() - 1);
        while (committing.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        FutureTask<Void> other = start(() -> make("other " + made++), false);
        assertThrows(TimeoutException.class, () -> other.get(1, TimeUnit.SECONDS));
        assertFalse(commit.isDone());
        metadata.letPass();
        other.get(LIMIT_S, TimeUnit.SECONDS);
        commit.get(LIMIT_S, TimeUnit.SECONDS);
    }

    @Test
    void aFileIsFreed() throws Exception {
        long a = inode("a");
        volume.unlink(Inode.ROOT, bytes("a"));
        assertNobodyWaitsFor(() -> volume.forget(a, 1));
    }

    @Test
    void aFileIsCutWithinAPage() throws Exception {
        long a = inode("a");
        assertNobodyWaitsFor(() -> volume.change(a, AttributeChange.ofSize(MIB + 1000)));
    }

    @Test
    void aFileIsCutToNothing() throws Exception {
        long a = inode("a");
        assertNobodyWaitsFor(() -> volume.change(a, AttributeChange.ofSize(0)));
    }

    @Test
    void aRangeIsZeroed() throws Exception {
        OpenFile a = volume.open(inode("a"), true);
        assertNobodyWaitsFor(() -> volume.zero(a, 1000, 4 * MIB, true));
    }

    @Test
    void aRangeIsCopied() throws Exception {
        OpenFile a = volume.open(inode("a"), true);
        OpenFile b = volume.open(inode("b"), true);
        assertNobodyWaitsFor(() -> volume.copy(a, 1000, b, MIB, 4 * MIB));
    }

    /** Who waits for the end of a truncation has no lock meanwhile: that of a file that got a name stops commits. */
    @Test
    void aCommitDoesNotWaitForAChangeThatWaitsForATruncation() throws Exception {
        long a = inode("a");
        OpenFile file = volume.open(a, true);
        volume.link(a, Inode.ROOT, bytes("linked"));
        FutureTask<Void> truncation = startTruncation(file);
        FutureTask<Void> zeroing = start(() -> volume.zero(file, 0, MIB, true), false);
        Thread waiting = threads.get(threads.size() - 1);
        while (waiting.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        FutureTask<Void> commit = start(volume.context().committer()::commit, false);
        commit.get(LIMIT_S, TimeUnit.SECONDS);
        assertFalse(zeroing.isDone());
        end(truncation);
        zeroing.get(LIMIT_S, TimeUnit.SECONDS);
    }

    /** The threads that serve all programs copy ranges, and the end of a truncation may be minutes away. */
    @Test
    void aCopyDoesNotWaitForATruncation() throws Exception {
        OpenFile source = volume.open(inode("a"), true);
        OpenFile target = volume.open(inode("b"), true);
        FutureTask<Void> truncation = startTruncation(source);
        for (OpenFile from : List.of(source, target)) {
            OpenFile to = from == source ? target : source;
            FutureTask<Void> copy = start(() -> volume.copy(from, 0, to, 0, MIB), false);
            ExecutionException refused =
                    assertThrows(ExecutionException.class, () -> copy.get(LIMIT_S, TimeUnit.SECONDS));
            assertEquals(Reason.EOPNOTSUPP, ((PosixException) refused.getCause()).reason());
        }
        end(truncation);
        assertEquals(MIB, volume.copy(source, 0, target, 0, MIB));
    }

    /** As a copy. */
    @Test
    void aRenameOverAFileDoesNotWaitForATruncation() throws Exception {
        OpenFile file = volume.open(inode("a"), true);
        FutureTask<Void> truncation = startTruncation(file);
        FutureTask<Void> rename =
                start(() -> volume.rename(Inode.ROOT, bytes("a"), Inode.ROOT, bytes("b"), RenameMode.REPLACE), false);
        rename.get(LIMIT_S, TimeUnit.SECONDS);
        assertFalse(truncation.isDone());
        assertEquals(file.inode(), inode("b"));
        end(truncation);
        assertEquals(MIB, volume.attributes(file.inode()).size());
    }

    /** Starts the truncation of a file to 1 MiB, and returns when pages of it are being removed. */
    private FutureTask<Void> startTruncation(OpenFile file) throws Exception {
        long inode = file.inode();
        FutureTask<Void> truncation = start(() -> volume.change(inode, AttributeChange.ofSize(MIB)), true);
        while (metadata.awaitRead(truncation) && !file.node().isCutting()) {
            metadata.letPass();
        }
        assertTrue(file.node().isCutting());
        return truncation;
    }

    private void end(FutureTask<Void> truncation) throws Exception {
        while (metadata.awaitRead(truncation)) {
            metadata.letPass();
        }
        truncation.get();
    }

    @Test
    void bytesAreOverwritten() throws Exception {
        OpenFile a = volume.open(inode("a"), true);
        byte[] data = new byte[3 * MIB];
        new Random(3).nextBytes(data);
        assertNobodyWaitsFor(() -> {
            volume.write(a, MIB + 1000, ByteBuffer.wrap(data));
            volume.context().writer().storeAll(a.node());
        });
    }

    @Test
    void aLinksOwnerIsCommitted() throws Exception {
        long link = inode("link");
        volume.change(link, new AttributeChange(null, 5, null, null, null, null, null));
        assertNobodyWaitsFor(volume.context().committer()::commit, false);
    }
}
