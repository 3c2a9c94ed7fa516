package org.opendedup.sar.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.objects.ObjectPage;

/** Where blocks end, and that they are the same again behind a change. */
class BlockCutterTest {
    private final ExecutorService executor = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    private List<BlockRef> cut(ByteArrayOutputStream all, byte[]... files) throws IOException {
        List<BlockRef> blocks = new ArrayList<>();
        BlockCutter cutter = new BlockCutter(BlockShape.USUAL, executor, 1, (shard, bytes) -> {
            blocks.add(BlockRef.of(shard, bytes));
            all.write(bytes);
        });
        for (byte[] file : files) {
            assertEquals(file.length, cutter.add(new ByteArrayInputStream(file)));
        }
        cutter.finish();
        return blocks;
    }

    private static byte[] random(long seed, int bytes) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    @Test
    void blocksAreTheSameAgainBehindAnInsertion() throws IOException {
        byte[] data = random(1, 16 << 20);
        byte[] more = new byte[data.length + 1000];
        System.arraycopy(random(2, 1000), 0, more, 0, 1000);
        System.arraycopy(data, 0, more, 1000, data.length);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        List<BlockRef> before = cut(all, data);
        assertArrayEquals(data, all.toByteArray());
        assertTrue(before.size() >= 4, before::toString);
        BlockShape shape = BlockShape.USUAL;
        for (BlockRef block : before.subList(0, before.size() - 1)) {
            assertTrue(block.length() >= shape.leastBytes() && block.length() <= shape.mostBytes(), block::toString);
        }
        Set<BlockRef> after = new HashSet<>(cut(new ByteArrayOutputStream(), more));
        assertEquals(1, before.stream().filter(block -> !after.contains(block)).count());
        // The control: blocks of a fixed length are all others.
        assertTrue(after.stream().noneMatch(block -> block.equals(before.get(0))));
    }

    @Test
    void smallFilesShareBlocksAndZerosAreBlocksToo() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[][] files = new byte[300][];
        for (int i = 0; i < files.length; i++) {
            files[i] = random(i, i * 10);
        }
        List<BlockRef> blocks = cut(all, files);
        assertEquals(1, blocks.size());
        assertEquals(300 * 299 / 2 * 10, all.size());

        List<BlockRef> zeros = cut(new ByteArrayOutputStream(), new byte[20 << 20]);
        assertEquals(20 << 20, zeros.stream().mapToInt(BlockRef::length).sum());
        assertTrue(new HashSet<>(zeros).size() <= 2, zeros::toString);
        assertEquals(List.of(), cut(new ByteArrayOutputStream(), new byte[0]));
    }

    /** Other blocks would not be found again: the same content would be stored a second time. */
    @Test
    void blocksAreThoseOfTheStoredFormat() throws IOException {
        List<BlockRef> blocks = cut(new ByteArrayOutputStream(), random(3, 3 << 20), random(4, 100_000));
        assertEquals(
                "blocks/99/9953-f7d91127aa9a3f5578f5b6e4fe1835d6bef640512fe2d504a7b56b7a421d4fb5",
                blocks.get(0).toString());
        BlockRef first = blocks.get(0);
        assertEquals(Optional.of(first), BlockRef.named(new ObjectPage.Entry(first.objectName(), first.length())));
        assertEquals(Optional.empty(), BlockRef.named(new ObjectPage.Entry("blocks/99/9953-f7", 5)));
        assertEquals(
                "[2983645, 262083]",
                blocks.stream().map(BlockRef::length).toList().toString());
    }
}
