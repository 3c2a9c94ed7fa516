package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;

/** What others do while the first block, with segments 0 to 3 in containers 1 to 4, is being written. */
class SiloWriteTest {
    private static final int SEGMENT = SiloChunkIndexTest.SEGMENT;
    private static final byte[] TABLE = {1};

    @TempDir
    Path folder;

    private final CrashDirectory files = new CrashDirectory(1);
    private final HookedDirectory slow = new HookedDirectory(files);
    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private volatile boolean isWriting;
    private volatile boolean fails;

    private SiloRecords records;
    private SiloChunkIndex index;
    private FutureTask<Void> filling;

    /** Lets a thread fill the first block, and waits until it forces the file. */
    @BeforeEach
    void beginToWrite() throws IOException {
        records = SiloRecords.open(folder, 4 << 20);
        index = new SiloChunkIndex(records, new BlockFiles(slow), SiloChunkIndexTest.SMALL);
        slow.hook = (call, name) -> {
            if (call == HookedDirectory.Call.FORCE && name.contains("00000001")) {
                isWriting = true;
                TestWait.until(() -> mayGoOn.getCount() == 0);
            }
            if (call == HookedDirectory.Call.FORCE && fails) {
                throw new IOException("the disk refuses");
            }
        };
        filling = inThread(() -> store(0, 4));
        TestWait.until(() -> isWriting);
    }

    @AfterEach
    void close() throws IOException {
        mayGoOn.countDown();
        index.close();
    }

    private static FutureTask<Void> inThread(Callable<Void> task) {
        FutureTask<Void> future = new FutureTask<>(task);
        Thread thread = new Thread(future);
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    /** Stores segment {@code s} in container {@code s + 1}. */
    private Void store(int from, int to) throws IOException {
        for (int segment = from; segment < to; segment++) {
            TestSegments.store(index, (long) segment * SEGMENT, SEGMENT, 1 + segment);
        }
        return null;
    }

    private int found(int segment) throws IOException {
        return TestSegments.found(index, (long) segment * SEGMENT, SEGMENT, 1 + segment);
    }

    private void goOn() {
        mayGoOn.countDown();
        TestWait.until(filling::isDone);
    }

    private void reopen() throws IOException {
        index.close();
        slow.pass();
        index = SiloChunkIndexTest.open(folder, files);
    }

    @Test
    void othersLookUpAndInsertWhileABlockIsWritten() throws Exception {
        FutureTask<Void> others = inThread(() -> {
            assertEquals(SEGMENT, found(2), "it is in the block that is being written");
            store(4, 7);
            assertEquals(SEGMENT, found(5));
            index.cover(6, TABLE);
            assertNotNull(index.frameTable(6));
            int[] slots = {0};
            index.forEachOf(3, (slot, fingerprint) -> slots[0]++);
            assertEquals(SEGMENT, slots[0]);
            return null;
        });
        TestWait.until(others::isDone);
        others.get();
        assertFalse(filling.isDone());
        goOn();
        filling.get();
        reopen();
        assertEquals(0, index.numbers().lostBlocks());
        for (int segment = 0; segment < 7; segment++) {
            assertEquals(SEGMENT, found(segment));
        }
        assertNotNull(index.frameTable(6));
    }

    /** Memory has a bound: one block waits for its file. */
    @Test
    void whoFillsTheNextBlockWaits() throws Exception {
        FutureTask<Void> others = new FutureTask<>(() -> store(4, 8));
        Thread thread = new Thread(others);
        thread.setDaemon(true);
        thread.start();
        TestWait.until(() -> thread.getState() == Thread.State.WAITING);
        assertEquals(2, index.numbers().blocks());
        assertEquals(SEGMENT, found(6), "its block can be asked meanwhile");
        goOn();
        TestWait.until(others::isDone);
        others.get();
        assertEquals(3, index.numbers().blocks());
    }

    @Test
    void flushWaitsForABlockThatIsBeingWritten() throws Exception {
        index.cover(4, TABLE);
        FutureTask<Void> flush = inThread(() -> {
            index.flush();
            return null;
        });
        assertNotNull(index.frameTable(4));
        assertNull(records.frameTable(4), "covered only with its block");
        goOn();
        TestWait.until(flush::isDone);
        flush.get();
        assertNotNull(records.frameTable(4));
    }

    /** Container 4 has chunks in both blocks. */
    private void coverWhileTheBlockIsWritten() throws IOException {
        index.cover(3, TABLE);
        for (int i = 0; i < SEGMENT; i++) {
            index.insert(TestSegments.fingerprint(4 * SEGMENT + i), 0, ChunkId.of(4, SEGMENT + i));
        }
        index.cover(4, TABLE);
        assertNotNull(index.frameTable(3));
        assertNotNull(index.frameTable(4));
    }

    @Test
    void containersAreCoveredWithTheBlocksThatHaveTheirChunks() throws IOException {
        coverWhileTheBlockIsWritten();
        goOn();
        assertNotNull(records.frameTable(3));
        assertNull(records.frameTable(4));
        reopen();
        assertNotNull(index.frameTable(4));
    }

    @Test
    void containersOfABlockThatCouldNotBeWrittenAreNotCovered() throws IOException {
        coverWhileTheBlockIsWritten();
        fails = true;
        goOn();
        assertThrows(Exception.class, filling::get);
        fails = false;
        assertEquals(0, found(0));
        assertThrows(IOException.class, () -> index.cover(4, TABLE));
        index.flush();
        reopen();
        assertNull(index.frameTable(3));
        assertNull(index.frameTable(4));
        // All of them are inserted again.
        store(0, 4);
        index.cover(3, TABLE);
        reopen();
        assertNotNull(index.frameTable(3));
        assertEquals(SEGMENT, found(2));
    }

    /** The number of the first one stays unused, that of the second one does not. */
    @Test
    void blocksThatWereGivenUpAreNotMissingLater() throws IOException {
        store(4, 5);
        fails = true;
        goOn();
        assertThrows(Exception.class, filling::get);
        assertThrows(IOException.class, () -> store(5, 8));
        fails = false;
        store(8, 12);
        index.cover(9, TABLE);
        assertFalse(files.exists(BlockFiles.name(1)), "the control: it is missing until the next opening");
        for (int i = 0; i < 2; i++) {
            reopen();
            assertEquals(0, index.numbers().lostBlocks());
            assertTrue(files.exists(BlockFiles.name(1)));
            assertEquals(SEGMENT, found(9));
            assertNotNull(index.frameTable(9));
        }
    }

    @Test
    void afterAPowerCutNoContainerIsCoveredWhoseBlockIsNotThere() throws IOException {
        coverWhileTheBlockIsWritten();
        assertEquals(0, incompleteAfterAPowerCut());
    }

    /** The control: an index that covers a container at once, whatever is being written. */
    @Test
    void controlAContainerThatIsCoveredAtOnceIsIncompleteAfterAPowerCut() throws IOException {
        try (SiloRecords.Change change = records.change()) {
            change.cover(3, TABLE).write();
        }
        assertEquals(1, incompleteAfterAPowerCut());
    }

    /** Cuts the power; all records reach the disk. Returns the covered containers of which a chunk is not found. */
    private int incompleteAfterAPowerCut() throws IOException {
        CrashDirectory after = files.crash(1);
        records.close();
        goOn();
        index = SiloChunkIndexTest.open(folder, after);
        int incomplete = 0;
        for (int segment = 0; segment < 4; segment++) {
            incomplete += index.frameTable(1 + segment) != null && found(segment) < SEGMENT ? 1 : 0;
        }
        return incomplete;
    }
}
