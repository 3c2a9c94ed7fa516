package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.io.HookedDirectory;

/** Containers whose pack failed are written to other packs, and nothing of them is lost. */
@TestCiphers.PlainAndEncrypted
final class ContainerRevivalTest extends StoreTest {
    private static final Compaction.Results NO_RESULTS = new Compaction.Results() {
        @Override
        public void copied(long container, long bytes, long saved) {}

        @Override
        public void incompressible(long container) {}

        @Override
        public void damaged(long container, int firstSlot, int slots, IOException why) {
            throw new AssertionError(why);
        }
    };

    private HookedDirectory hooked() {
        HookedDirectory hooked = new HookedDirectory(disk);
        fixture.shareTable(disk, hooked);
        return hooked;
    }

    /**
     * A frame that is being written at the moment when the directory cannot be synced is neither lost nor mistaken for
     * another one, and is in the rewritten file.
     */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aFrameThatIsBeingWrittenWhenTheDirectoryCannotBeSyncedIsKept() throws IOException {
        HookedDirectory hooked = hooked();
        Semaphore begun = new Semaphore(0);
        Semaphore released = new Semaphore(0);
        try (ContainerStore store = fixture.open(hooked)) {
            appendSome(store, 1, 10);
            Thread forcing = Thread.currentThread();
            AtomicBoolean syncFails = new AtomicBoolean(true);
            AtomicBoolean appendWaits = new AtomicBoolean();
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.SYNC && syncFails.getAndSet(false)) {
                    appendWaits.set(true);
                    appendSome(store, 1, 30); // more than a frame, which a worker writes
                    begun.acquireUninterruptibly();
                    throw new IOException("made by the test");
                }
                if (call == HookedDirectory.Call.APPEND
                        && Thread.currentThread() != forcing
                        && appendWaits.getAndSet(false)) {
                    begun.release();
                    released.acquireUninterruptibly();
                }
            };
            assertThrows(IOException.class, () -> fixture.commit(store));
            released.release();
            assertThrows(IOException.class, () -> fixture.commit(store)); // which waits for the worker
            chunks.assertAllReadable(store);
            store.revive();
            fixture.commit(store);
            assertFalse(chunks.byId.keySet().stream().anyMatch(store::isLost));
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(fixture.crash(disk, 1))) {
            chunks.assertAllReadable(store);
        }
    }

    /** Its bytes may be on the disk, but the name of their file may not. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aContainerThatIsCompletedWhileTheDirectoryCannotBeSyncedIsRewritten() throws IOException {
        HookedDirectory hooked = hooked();
        try (ContainerStore store = fixture.open(hooked)) {
            AtomicBoolean syncFails = new AtomicBoolean(true);
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.SYNC && syncFails.getAndSet(false)) {
                    appendSome(store, 1, 250); // more than a container, which is completed then
                    throw new IOException("made by the test");
                }
            };
            appendSome(store, 1, 10);
            assertThrows(IOException.class, () -> fixture.commit(store));
            assertEquals(0, fixture.table(disk).containers());
            store.revive();
            fixture.commit(store);
            try (ContainerStore crashed = fixture.openWithoutTables(fixture.crash(disk, 2))) {
                chunks.assertAllReadable(crashed);
            }
            // Of a failure that no container has any more, nobody would wait until a slow disk has room.
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.APPEND) {
                    Uninterruptibles.sleepUninterruptibly(10, TimeUnit.MILLISECONDS);
                }
            };
            appendSome(store, 2, 300);
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(fixture.crash(disk, 1))) {
            assertEquals(List.of(), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    /** The sync that failed was that of another caller, and was its only report. */
    @Test
    void aNameInDoubtFailsWhoeverNeedsIt() throws IOException {
        HookedDirectory hooked = hooked();
        AtomicBoolean isInDoubt = new AtomicBoolean(true);
        hooked.hook = (call, name) -> {
            if (call == HookedDirectory.Call.CHECK_NAME && isInDoubt.get()) {
                throw new IOException("made by the test");
            }
        };
        try (ContainerStore store = fixture.open(hooked)) {
            appendSome(store, 1, 300);
            store.endAll();
            assertThrows(IOException.class, () -> fixture.commit(store));
            assertEquals(0, fixture.table(disk).containers());
            assertThrows(IOException.class, store::revive);
            isInDoubt.set(false);
            store.revive();
            fixture.commit(store);
            chunks.assertAllReadable(store);

            StoredContainer before = fixture.entry(disk, 1);
            try (Compaction compaction = store.compaction(0)) {
                BitSet all = new BitSet();
                all.set(0, store.frameTable(1).slots());
                compaction.examine(1, new BitSet(), new KnownChunks());
                compaction.heal(all, new BitSet(), new Replacements());
                compaction.writeLoaded(NO_RESULTS);
                isInDoubt.set(true);
                assertThrows(IOException.class, compaction::force);
                isInDoubt.set(false);
                compaction.force();
                fixture.commit(store);
            }
            assertEquals(before, fixture.entry(disk, 1), "it stays in its old place");
            chunks.assertAllReadable(store);
        }
    }

    /** All chunks are in the file then, and nothing but the force of that file makes them durable. */
    @Test
    void aDirectoryThatCannotBeAppendedFailsTheCommit() throws IOException {
        HookedDirectory hooked = hooked();
        try (ContainerStore store = fixture.open(hooked)) {
            appendSome(store, 1, 30);
            fixture.commit(store);
            try (ContainerWriter writer = store.writer(1)) {
                chunks.append(writer, new byte[500]); // the thread that ends a small frame writes it
            }
            AtomicInteger appends = new AtomicInteger();
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.APPEND && appends.getAndIncrement() > 0) {
                    throw new IOException("made by the test");
                }
            };
            store.endAll();
            assertEquals(2, appends.get(), "the last frame, and directory and footer");
            assertThrows(IOException.class, () -> fixture.commit(store));
            hooked.pass();
            store.revive();
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(fixture.crash(disk, 1))) {
            assertEquals(List.of(), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    /** The id that the new pack takes may be the number of a pack that was made for a container with a lower id. */
    @Test
    void aRevivalSkipsTheNumbersOfPacks() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 10);
            fixture.commit(store);
            fixture.lastId.set(fixture.entry(disk, 1).pack() - 1);
            disk.failAppend(1);
            try (ContainerWriter writer = store.writer(1)) {
                chunks.append(writer, new byte[500]);
            }
            assertThrows(IOException.class, () -> fixture.commit(store));
            store.revive();
            fixture.commit(store);
            chunks.assertAllReadable(store);
            assertEquals(fixture.lastId.get(), fixture.entry(disk, 1).pack());
        }
    }

    private void appendUntilItFails(ContainerStore store, ContainerWriter writer) throws IOException {
        while (true) {
            long id = chunks.append(writer, new byte[100]);
            store.frame(ChunkId.container(id), store.frameOf(id), false); // ends the frame
            Uninterruptibles.sleepUninterruptibly(10, TimeUnit.MILLISECONDS);
        }
    }

    /** A container that fails while another is rewritten stays with its writer until the next revival. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aContainerThatFailsDuringTheRevivalOfAnotherIsRevivedLater() throws IOException {
        HookedDirectory hooked = hooked();
        try (ContainerStore store = fixture.open(hooked)) {
            ContainerWriter first = store.writer(1);
            ContainerWriter second = store.writer(2);
            chunks.append(first, new byte[100]);
            chunks.append(second, new byte[100]);
            fixture.commit(store);
            String firstPack = fixture.pack(disk, 1);
            String secondPack = fixture.pack(disk, 2);
            AtomicBoolean late = new AtomicBoolean(true);
            hooked.hook = (call, name) -> {
                boolean old = name.equals(firstPack) || name.equals(secondPack);
                if (call == HookedDirectory.Call.APPEND && old) {
                    throw new IOException("made by the test");
                }
                if (call == HookedDirectory.Call.APPEND && late.getAndSet(false)) {
                    assertThrows(IOException.class, () -> appendUntilItFails(store, second));
                }
            };
            chunks.append(first, new byte[200]);
            assertThrows(IOException.class, () -> fixture.commit(store));
            store.revive();
            assertFalse(late.get());
            hooked.pass();
            assertThrows(IOException.class, () -> fixture.commit(store));
            store.revive();
            fixture.commit(store);
            first.close();
            second.close();
            appendSome(store, 1, 10);
            appendSome(store, 2, 10);
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
    }

    /** A chunk that no worker takes while the file is rewritten is lost. The rewriting must not hide that. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aChunkThatIsLostWhileTheFileIsRewrittenIsReported() throws IOException {
        HookedDirectory hooked = hooked();
        try (ContainerStore store = fixture.open(hooked)) {
            appendSome(store, 1, 10);
            fixture.commit(store);
            ContainerWriter writer = store.writer(1);
            chunks.append(writer, new byte[100]);
            byte[] content = new byte[500];
            AtomicLong late = new AtomicLong();
            AtomicInteger appends = new AtomicInteger();
            hooked.hook = (call, name) -> {
                if (call == HookedDirectory.Call.FORCE && late.get() == 0) {
                    late.set(writer.append(content, 0, content.length, TestChunks.fingerprint(content), 0));
                    throw new IOException("made by the test");
                }
                // The second append to the new pack: the first is the pack's header.
                if (call == HookedDirectory.Call.APPEND && late.get() > 0 && appends.incrementAndGet() == 2) {
                    fixture.workers.shutdown();
                    // Ends the frame that is being filled.
                    var reader = new FutureTask<>(() -> TestChunks.read(store, late.get()));
                    new Thread(reader).start();
                    assertDoesNotThrow(() -> Uninterruptibles.getUninterruptibly(reader));
                }
            };
            assertThrows(IOException.class, () -> fixture.commit(store));
            List<String> packs = disk.list();
            assertThrows(CorruptionException.class, store::revive, "retrying does not help");
            assertTrue(appends.get() >= 2);
            assertEquals(packs, disk.list(), "the new pack is deleted");
            assertTrue(store.isLost(late.get()));
            assertThrows(IOException.class, () -> fixture.commit(store));
            chunks.byId.keySet().removeIf(store::isLost);
            chunks.assertAllReadable(store);
            writer.close();
        }
    }
}
