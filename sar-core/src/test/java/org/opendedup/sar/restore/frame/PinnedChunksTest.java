package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;

class PinnedChunksTest {
    private static final int BYTES = 8000;
    private static final int CHARGE = PinnedChunks.heldBytes(BYTES);

    private final ByteGauge memory = new ByteGauge();
    private final PinnedChunks pinned = new PinnedChunks(memory, Long.MAX_VALUE);

    /** Every byte of a chunk shows its slot. */
    private static byte[] bytesOf(long chunkId) {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, (byte) ChunkId.slot(chunkId));
        return bytes;
    }

    private void fill(long chunkId) {
        pinned.fill(chunkId, bytesOf(chunkId), 0, BYTES, (int) chunkId, new PinnedChunks.Surplus());
    }

    private static boolean isWhole(Pinned chunk, long chunkId) {
        return chunk.fingerprintPrefix() == (int) chunkId
                && Arrays.equals(
                        bytesOf(chunkId), 0, BYTES, chunk.data(), chunk.offset(), chunk.offset() + chunk.length());
    }

    @Test
    void onlyWhatIsHeldIsFilledAndItIsForgottenBehindTheLastRelease() {
        long chunk = ChunkId.of(3, 7);
        fill(chunk);
        assertFalse(pinned.has(chunk));
        pinned.hold(chunk, CHARGE);
        pinned.hold(chunk, CHARGE);
        assertEquals(-1, pinned.bytes(chunk));
        fill(chunk);
        assertEquals(BYTES, pinned.bytes(chunk));
        pinned.release(chunk);
        assertTrue(pinned.has(chunk));
        pinned.release(chunk);
        assertNull(pinned.use(chunk));
        assertEquals(0, memory.bytes());
    }

    /** Of chunks that share arrays, and of one that is too large for that. */
    @Test
    void whereJavaHasNoMemoryNothingStaysCounted() {
        AtomicBoolean refusing = new AtomicBoolean(true);
        PinnedChunks chunks = new PinnedChunks(memory, new Slabs(memory, Slabs.SLAB_BYTES, bytes -> {
            if (refusing.get()) {
                throw new OutOfMemoryError("made by the test");
            }
            return new byte[bytes];
        }));
        long chunk = ChunkId.of(3, 7);
        for (int length : new int[] {BYTES, Slabs.MAX_BYTES + 1}) {
            byte[] bytes = new byte[length];
            PinnedChunks.Surplus surplus = new PinnedChunks.Surplus();
            surplus.allow(10L * length);
            chunks.hold(chunk, CHARGE);
            long before = memory.bytes();
            refusing.set(true);
            for (int attempt = 0; attempt < 3; attempt++) {
                assertThrows(OutOfMemoryError.class, () -> chunks.fill(chunk, bytes, 0, length, 0, surplus));
                assertEquals(before, memory.bytes());
            }
            refusing.set(false);
            chunks.fill(chunk, bytes, 0, length, 0, surplus);
            assertTrue(chunks.has(chunk));
            chunks.release(chunk);
            assertEquals(0, memory.bytes());
        }
    }

    @Test
    void bytesInUseStayWhateverBecomesOfTheChunk() {
        long chunk = ChunkId.of(3, 7);
        pinned.hold(chunk, CHARGE);
        fill(chunk);
        Pinned inUse = pinned.use(chunk);
        assertNotNull(inUse);
        pinned.release(chunk);
        fillOthers();
        assertTrue(isWhole(inUse, chunk));
        inUse.close();
        // The control: now another chunk uses them.
        fillOthers();
        assertFalse(isWhole(inUse, chunk));
    }

    private void fillOthers() {
        for (int slot = 100; slot < 200; slot++) {
            pinned.hold(ChunkId.of(4, slot), CHARGE);
            fill(ChunkId.of(4, slot));
        }
        for (int slot = 100; slot < 200; slot++) {
            pinned.release(ChunkId.of(4, slot));
        }
    }

    /** Readers that use chunks while others hold, fill and release them never see the bytes of another chunk. */
    @Test
    @Timeout(60)
    void whoUsesAChunkSeesItsBytesWhileOthersComeAndGo() throws Exception {
        long seed = TestSeed.next();
        List<FutureTask<Integer>> tasks = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            Random random = new Random(seed + thread);
            tasks.add(new FutureTask<>(() -> comeAndGo(random)));
            new Thread(tasks.get(thread)).start();
        }
        int used = 0;
        for (FutureTask<Integer> task : tasks) {
            used += task.get();
        }
        assertTrue(used > 1000, used + " uses: hardly a test");
        assertEquals(0, memory.bytes());
    }

    private int comeAndGo(Random random) {
        List<Long> mine = new ArrayList<>();
        int used = 0;
        for (int i = 0; i < 30_000; i++) {
            long any = ChunkId.of(1 + random.nextInt(3), random.nextInt(120));
            switch (random.nextInt(4)) {
                case 0 -> {
                    pinned.hold(any, CHARGE);
                    mine.add(any);
                }
                case 1 -> fill(any);
                case 2 -> {
                    if (!mine.isEmpty()) {
                        pinned.release(mine.remove(random.nextInt(mine.size())));
                    }
                }
                default -> {
                    try (Pinned chunk = pinned.use(any)) {
                        assertTrue(chunk == null || isWhole(chunk, any), () -> ChunkId.toString(any));
                        used += chunk == null ? 0 : 1;
                    }
                }
            }
        }
        mine.forEach(pinned::release);
        return used;
    }
}
