package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.TruncatedIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Chunks with different bytes whose fingerprints begin with the same four bytes: those that a recipe keeps. No such
 * prefix may decide which bytes a file has.
 */
@Timeout(300)
class CollidingPrefixesTest {
    private static final int CHUNK = 4096;

    /** Numbers of chunks with the same prefix, found by trying. {@link #thePairsCollide} verifies them. */
    private static final int[][] PAIRS = {
        {402, 18144}, {75166, 149035}, {182262, 201288}, {207273, 223514}, {205593, 229940}, {155278, 236319},
        {105815, 240067}, {111074, 247855}, {173264, 266148}, {1215, 272716}, {90805, 287157}, {80072, 309713},
        {171971, 310658}, {245848, 332859}, {316747, 334966}, {41522, 338599}, {140037, 344893}, {126975, 344955},
        {61511, 353335}, {188103, 368924}, {10485, 375890}, {390088, 390377}, {390596, 398695}, {321134, 409273}
    };

    /** The order in which the chunks are written. */
    private enum Order {
        /** Both of a pair in one segment. */
        PAIRS_TOGETHER,
        /** The second of each pair in another file, after the first was stored. */
        PAIRS_APART
    }

    @MemoryFolder
    Path folder;

    private final CrashDirectory data = new CrashDirectory(1);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final List<List<byte[]>> files = new ArrayList<>();
    private Volume volume;

    private static byte[] chunk(int number) {
        byte[] made = new byte[CHUNK];
        Arrays.fill(made, (byte) 7);
        ByteBuffer.wrap(made).putInt(0, number);
        return made;
    }

    @Test
    void thePairsCollide() throws NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int[] pair : PAIRS) {
            assertEquals(
                    Fingerprints.fingerprintPrefix(digest.digest(chunk(pair[0])), 0),
                    Fingerprints.fingerprintPrefix(digest.digest(chunk(pair[1])), 0));
        }
    }

    private static List<byte[]> members(int member) {
        return Arrays.stream(PAIRS).map(pair -> chunk(pair[member])).toList();
    }

    private static List<List<byte[]>> filesOf(Order order) {
        if (order == Order.PAIRS_APART) {
            return List.of(members(0), members(1), members(1), members(0));
        }
        List<byte[]> both = new ArrayList<>();
        for (int[] pair : PAIRS) {
            both.add(chunk(pair[0]));
            both.add(chunk(pair[1]));
        }
        return List.of(both, both, members(1));
    }

    private void open(ChunkIndex index) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
        if (metadata.batches() == 0) {
            Volume.create(config, data, metadata, InstantSource.system());
        }
        volume = Volume.open(
                config, new VolumeStores(data, metadata, index, InstantSource.system()), Verification.CHECKSUMS);
    }

    private void write(List<byte[]> chunks) throws IOException {
        byte[] name = ("f" + files.size()).getBytes(UTF_8);
        long inode =
                volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
        OpenFile file = volume.open(inode, true);
        for (int i = 0; i < chunks.size(); i++) {
            volume.write(file, (long) i * CHUNK, ByteBuffer.wrap(chunks.get(i)));
        }
        volume.sync(file);
        volume.close(file);
        volume.forget(inode, 1);
        files.add(chunks);
    }

    /** Returns the number of chunks that a file has with other bytes than were written. */
    private int wrong() throws IOException {
        int wrong = 0;
        for (int f = 0; f < files.size(); f++) {
            long inode = volume.lookup(Inode.ROOT, ("f" + f).getBytes(UTF_8)).inode();
            OpenFile file = volume.open(inode, false);
            for (int i = 0; i < files.get(f).size(); i++) {
                ByteBuffer found = ByteBuffer.allocate(CHUNK);
                assertEquals(CHUNK, volume.read(file, (long) i * CHUNK, found));
                wrong += Arrays.equals(files.get(f).get(i), found.array()) ? 0 : 1;
            }
            volume.close(file);
            volume.forget(inode, 1);
        }
        return wrong;
    }

    @ParameterizedTest
    @EnumSource
    void noFileGetsTheBytesOfAnotherChunk(Order order) throws IOException {
        open(ChunkIndexes.openRocksDb(folder.resolve("index"), ChunkIndexes.MIN_MEMORY_BYTES));
        for (List<byte[]> chunks : filesOf(order)) {
            write(chunks);
        }
        assertEquals(0, wrong());
        volume.maintenance()
                .arrange(new ArrangementLimits(1, 1), DiskModel.configured(0.2, 100_000_000), Progress.NONE);
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        assertEquals(0, wrong());
        volume.close();
        open(ChunkIndexes.openRocksDb(folder.resolve("index"), ChunkIndexes.MIN_MEMORY_BYTES));
        write(members(0));
        write(members(1));
        assertEquals(0, wrong());
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(
                2L * PAIRS.length * CHUNK, volume.statistics().uniqueBytes(), "each different chunk is stored once");
        volume.close();
    }

    /** Equal fingerprints are trusted: an index that compares prefixes makes wrong bytes, and the test sees them. */
    @ParameterizedTest
    @EnumSource
    void controlAnIndexThatComparesPrefixesMakesWrongBytes(Order order) throws IOException {
        open(TruncatedIndex.over(new HeapChunkIndex(), Integer.BYTES));
        for (List<byte[]> chunks : filesOf(order)) {
            write(chunks);
        }
        assertTrue(wrong() > 0);
        volume.close();
    }
}
