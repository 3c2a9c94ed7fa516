package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;

final class BlockCacheTest {
    private static final int BLOCK = BlockCache.BLOCK_BYTES;
    /** Room for 64 segments of one block. */
    private static final long BYTES = 64L * BLOCK;

    @MemoryFolder
    Path folder;

    private BlockCache cache;

    @BeforeEach
    void open() throws IOException {
        open(BYTES);
    }

    private void open(long bytes) throws IOException {
        cache = BlockCache.open(FileDirectory.open(folder), bytes, 1 << 20, this::makeRoom);
    }

    @AfterEach
    void close() throws IOException {
        cache.close();
    }

    private void makeRoom() {
        while (cache.isTooLong()) {
            assertTrue(cache.evict());
        }
    }

    private static ByteBuffer block(long key, int length) {
        ByteBuffer block = ByteBuffer.allocate(length);
        while (block.remaining() >= Long.BYTES) {
            block.putLong(key * 31 + block.position());
        }
        return block.clear();
    }

    private void put(long key) throws IOException {
        cache.put(key, block(key, BLOCK));
    }

    private boolean isRight(long key) {
        ByteBuffer read = ByteBuffer.allocate(1000);
        int count = cache.read(key, 8000, read);
        assertTrue(
                count == 0
                        || count == 1000 && read.flip().equals(block(key, BLOCK).slice(8000, 1000)),
                "" + key);
        return count > 0;
    }

    @Test
    void whatWasReadAgainStaysWhenMuchIsReadOnce() throws IOException {
        for (long key = 0; key < 20; key++) {
            put(key);
            put(100 + key);
            assertTrue(isRight(key));
        }
        for (long key = 1000; key < 1500; key++) {
            put(key);
        }
        for (long key = 0; key < 20; key++) {
            assertTrue(isRight(key), key + " was read again");
            assertFalse(isRight(100 + key), key + " was read once: the control");
        }
        assertTrue(cache.bytes() <= BYTES);
    }

    @Test
    void whatIsNotReadAnyMoreMakesRoomForWhatIs() throws IOException {
        for (long key = 0; key < 400; key++) {
            put(key);
            assertTrue(isRight(key));
        }
        assertTrue(cache.bytes() <= BYTES);
        assertFalse(isRight(0), "it was warm long ago");
        assertTrue(isRight(399));
    }

    @Test
    void theDiskBeginsToWriteBeforeASegmentIsComplete() throws IOException {
        cache.close();
        HookedDirectory counted = new HookedDirectory(FileDirectory.open(folder));
        // Segments of a hundred blocks.
        cache = BlockCache.open(counted, 100 * BYTES, 1 << 20, this::makeRoom);
        for (long key = 0; key < 2 * BlockCache.WRITTEN_BLOCKS + 1; key++) {
            put(key);
        }
        assertEquals(1, files());
        assertEquals(2, counted.begunWritings.get());
    }

    @Test
    void aSegmentThatCannotBeOpenedIsDropped() throws IOException {
        for (long key = 0; key < 10; key++) {
            put(key);
        }
        cache.close();
        HookedDirectory failing = new HookedDirectory(FileDirectory.open(folder));
        failing.readHook = (name, offset, end) -> {
            throw new IOException("Input/output error");
        };
        cache = BlockCache.open(failing, BYTES, 1 << 20, this::makeRoom);
        assertFalse(isRight(0));
        assertEquals(0, cache.bytes());
    }

    @Test
    void theNextOpeningHasTheBlocks() throws IOException {
        for (long key = 0; key < 10; key++) {
            put(key);
        }
        cache.put(10, block(10, 5000));
        cache.close();
        open();
        for (long key = 0; key < 10; key++) {
            assertTrue(isRight(key));
        }
        ByteBuffer read = ByteBuffer.allocate(BLOCK);
        assertEquals(5000 - 64, cache.read(10, 64, read), "the last block of a pack is shorter");
        assertEquals(block(10, 5000).slice(64, 5000 - 64), read.flip());
        assertEquals(0, cache.read(10, 5000, read.clear()));
        cache.close();
        open(BYTES / 2);
        makeRoom();
        assertTrue(cache.bytes() <= BYTES / 2, "a smaller cache");
        cache.close();
        open(0);
        assertFalse(cache.isUsed());
        assertEquals(0, files());
    }

    @Test
    void whatACrashLeftOrIsDamagedIsNotTaken() throws IOException {
        open(10 * BYTES);
        for (long key = 0; key < 25; key++) {
            put(key);
        }
        // Of ten blocks each: two are complete, one is not.
        assertEquals(3, files());
        BlockCache crashed = cache;
        open(10 * BYTES);
        assertEquals(2, files());
        assertTrue(isRight(0));
        assertTrue(isRight(19));
        assertFalse(isRight(20));
        cache.close();
        try (Stream<Path> all = Files.list(folder.resolve("cache"))) {
            Path first = all.sorted().findFirst().orElseThrow();
            byte[] bytes = Files.readAllBytes(first);
            bytes[10 * BLOCK + 5] ^= 1;
            Files.write(first, bytes, StandardOpenOption.TRUNCATE_EXISTING);
        }
        open(10 * BYTES);
        assertFalse(isRight(0), "its table is damaged");
        assertTrue(isRight(19));
        assertTrue(crashed.isUsed());
    }

    private long files() throws IOException {
        try (Stream<Path> all = Files.list(folder.resolve("cache"))) {
            return all.count();
        }
    }
}
