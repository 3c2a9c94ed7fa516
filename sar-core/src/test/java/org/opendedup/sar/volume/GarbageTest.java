package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Futures;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/** Chunks that no recipe refers to have separate figures, exact to the byte, and are part of no ratio. */
class GarbageTest {
    private static final int MIB = 1 << 20;

    private static final int FILES = 4;
    private static final int STEPS = 40;

    private SplittableRandom random = new SplittableRandom(1);
    private VolumeInMemory stores;
    private Volume volume;

    private void make(Chunking chunking) throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("in memory"), 1L << 30, chunking), 1);
        volume = stores.open();
    }

    @AfterEach
    void close() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return data;
    }

    private void store(String name, byte[] data) throws IOException {
        byte[] bytes = name.getBytes(UTF_8);
        long inode =
                volume.makeNode(Inode.ROOT, bytes, 0100644, 0, new Owner(1, 1)).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync();
        volume.close(file);
        volume.forget(inode, 1);
    }

    private void remove(String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        // On a busy machine, what a first step of some milliseconds leaves is freed in the background.
        Futures.getUnchecked(volume.context().reaper().freed());
        volume.sync();
    }

    /** Bytes and chunks of the garbage, and bytes that are not garbage. */
    private void assertStored(long unique, long garbage) throws IOException {
        VolumeStatistics now = volume.statistics();
        assertEquals(unique, now.uniqueBytes());
        assertEquals(garbage, now.garbageBytes());
        assertEquals(unique == 0, now.chunks() == 0);
        assertEquals(garbage == 0, now.garbageChunks() == 0);
    }

    @ParameterizedTest
    @EnumSource
    void garbageIsInNoRatio(Chunking chunking) throws IOException {
        make(chunking);
        byte[] kept = data(3 * MIB + 1000);
        byte[] dead = data(5 * MIB + 77);
        store("kept", kept);
        store("kept-again", kept);
        assertEquals(2.0, volume.statistics().dedupRatio());
        store("dead", dead);
        assertStored(kept.length + dead.length, 0);
        remove("dead");
        assertEquals(2.0, volume.statistics().dedupRatio());
        assertStored(kept.length, dead.length);

        stores = stores.crash(2);
        VolumeInMemory.abandon(volume);
        volume = stores.open();
        assertStored(kept.length, dead.length);
        // Written again, it is found again.
        store("dead-again", dead);
        assertStored(kept.length + dead.length, 0);
        remove("dead-again");
        remove("kept");
        assertStored(kept.length, dead.length);
        remove("kept-again");
        assertStored(0, kept.length + dead.length);
        assertEquals(1.0, volume.statistics().dedupRatio());
    }

    /**
     * Small files that were synced lie in the intent log for a while: nothing tells yet whether they are duplicates.
     */
    @ParameterizedTest
    @EnumSource
    void whatIsInNoChunkIsInNoRatio(Chunking chunking) throws IOException {
        make(chunking);
        store("stored", data(MIB));
        long inode = volume.makeNode(Inode.ROOT, "synced".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(data(50_000)));
        volume.sync(file);
        VolumeStatistics now = volume.statistics();
        assertEquals(MIB + 50_000, now.logicalBytes());
        assertStored(MIB, 0);
        assertEquals(1.0, now.dedupRatio());
        assertEquals((double) MIB / now.storedBytes(), now.reductionRatio());
        volume.close(file);
        volume.forget(inode, 1);
    }

    /** Partly used chunks count whole; the checker compares the totals with the records, and these with the frames. */
    @ParameterizedTest
    @EnumSource
    void whatIsUsedInPartCountsWhole(Chunking chunking) throws IOException {
        make(chunking);
        random = new SplittableRandom(TestSeed.next());
        List<byte[]> contents = new ArrayList<>();
        for (int file = 0; file < FILES; file++) {
            contents.add(data(MIB));
            store("file-" + file, contents.get(file));
        }
        long all = FILES * (long) MIB;
        assertStored(all, 0);
        for (int step = 0; step < STEPS; step++) {
            byte[] bytes = ("file-" + random.nextInt(FILES)).getBytes(UTF_8);
            long inode = volume.lookup(Inode.ROOT, bytes).inode();
            OpenFile file = volume.open(inode, true);
            int from = random.nextInt(MIB);
            switch (random.nextInt(4)) {
                case 0 -> volume.write(file, from, ByteBuffer.wrap(data(1 + random.nextInt(100_000))));
                case 1 -> volume.write(file, from, ByteBuffer.wrap(contents.get(random.nextInt(FILES))));
                case 2 -> volume.change(inode, AttributeChange.ofSize(from));
                default -> volume.zero(file, from, 1 + random.nextInt(200_000), true);
            }
            volume.sync();
            volume.close(file);
            volume.forget(inode, 1);
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
        VolumeStatistics now = volume.statistics();
        long stored = now.uniqueBytes() + now.garbageBytes();
        assertTrue(stored >= all && now.garbageBytes() > 0, now::toString);
        for (int file = 0; file < FILES; file++) {
            remove("file-" + file);
        }
        assertStored(0, stored);
    }

    /** The control: a wrong length of a chunk is detected, by comparison with the frame and with the totals. */
    @ParameterizedTest
    @EnumSource
    void aWrongLengthIsNoticed(Chunking chunking) throws IOException {
        make(chunking);
        store("file", data(MIB));
        ReferenceCounts counts = volume.context().metadata().counts();
        List<Long> containers = new ArrayList<>();
        int[] length = new int[1];
        PresentRecords.forEachCounted(volume.context().metadata(), (container, record) -> {
            containers.add(container);
            length[0] = record.length(0);
        });
        long chunk = ChunkId.of(containers.get(0), 0);
        counts.addNew(chunk, length[0] + 1, 0);
        List<String> problems = VolumeChecker.check(volume);
        counts.addNew(chunk, length[0], 0);
        assertEquals(2, problems.size(), problems::toString);
        assertTrue(problems.get(0).contains("bytes of chunks and its counts say"), problems::toString);
        assertTrue(problems.get(1).contains("counts as stored"), problems::toString);
    }
}
