package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.hot.FileExplainer;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.Chunk;
import org.opendedup.sar.hot.FileExplanation.DiskWork;
import org.opendedup.sar.hot.FileExplanation.Share;
import org.opendedup.sar.hot.FileExplanation.SsdWork;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;

/** Explains files of a real volume with chunks of 4 KiB; the contents of the SSD are simulated. */
class FileExplanationTest extends OpenVolumeTrial {
    private static final int CHUNK = 4096;
    /** Length of the file that is written in sequence. */
    private static final int WHOLE_MIB = 12;

    private long whole;
    private byte[] data;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
    }

    @BeforeEach
    void writeWhole() throws IOException {
        data = new byte[WHOLE_MIB * MIB];
        new Random(1).nextBytes(data);
        whole = make("whole");
        write(whole, 0, 0, data.length);
    }

    @Test
    void aFileInOneSequenceIsLeftToTheDisk() throws IOException {
        FileExplanation explained = explain(whole, chunk -> false, settings(1, true));
        assertEquals(data.length / CHUNK, explained.chunks());
        // If a container ends in the middle of a request, the remaining part of either may be short.
        assertTrue(explained.verdicts().get(Verdict.LONG_RUN).bytes() > 0.95 * data.length, explained::toString);
        assertEquals(Verdict.values().length, explained.verdicts().size());
        assertEquals(1, explained.fromDisk().requests(), "its containers lie one after another in a pack");
        assertEquals(explained.fromDisk(), explained.withSsd());
        assertEquals(new SsdWork(0, 0, 0), explained.fromSsd());
    }

    @Test
    void aScatteredFileCostsOneRequestAChunkUnlessTheyAreOnTheSsd() throws IOException {
        long scattered = scattered();
        FileExplanation cold = explain(scattered, chunk -> false, settings(5, true));
        assertEquals(WHOLE_MIB, cold.fromDisk().requests());
        assertEquals(cold.fromDisk(), cold.withSsd());
        assertEquals(new Share(WHOLE_MIB, WHOLE_MIB * CHUNK), cold.verdicts().get(Verdict.NEVER_READ_TWICE));

        FileExplanation promoted = explain(scattered, chunk -> true, settings(5, true));
        assertEquals(cold.fromDisk(), promoted.fromDisk());
        assertEquals(new DiskWork(0, 0), promoted.withSsd());
        // Each chunk has a segment of the log for itself. 100 µs for each, and 500 bytes per µs.
        assertEquals(new SsdWork(WHOLE_MIB, WHOLE_MIB, (long) WHOLE_MIB * CHUNK), promoted.fromSsd());
        double ssdSeconds = WHOLE_MIB * (100 + CHUNK / 500.0) / 1e6;
        assertEquals(ssdSeconds, promoted.withSsdSeconds(), 1e-9);
        assertEquals(cold.fromDisk().seconds() - ssdSeconds, promoted.savedSeconds(), 1e-9);
        assertEquals(0, cold.savedSeconds(), "no SSD costs nothing and saves nothing");
        assertEquals(WHOLE_MIB, promoted.verdicts().get(Verdict.ON_SSD).chunks());
    }

    @Test
    void neighboursInTheLogOfTheSsdAreOneRequest() throws IOException {
        long scattered = scattered();
        int[] next = new int[1];
        Map<Long, Integer> places = new HashMap<>();
        FileExplainer.Copies copies = (chunk, entry) -> {
            entry.segment = 1;
            entry.offset = places.computeIfAbsent(chunk, isNew -> next[0]++) * CHUNK;
            entry.length = CHUNK;
            return true;
        };
        var rules = new FileExplainer.Rules(copies, settings(5, true));
        FileExplanation explained = volume.maintenance().explain(scattered, 0, rules, chunk -> true);
        assertEquals(new SsdWork(WHOLE_MIB, 1, (long) WHOLE_MIB * CHUNK), explained.fromSsd());
    }

    /** Control: with the time of both added, as it was, disk and SSD would take longer than the disk. */
    @Test
    void diskAndSsdWorkAtTheSameTime() throws IOException {
        long scattered = scattered();
        Set<Long> half = new HashSet<>();
        chunks(scattered, 0, WHOLE_MIB / 2)
                .forEach(chunk -> half.add(chunk.chunk().getChunkId()));
        FileExplanation explained = explain(scattered, half::contains, settings(5, true));
        assertEquals(WHOLE_MIB / 2, explained.fromSsd().chunks());
        assertEquals(explained.withSsd().seconds(), explained.withSsdSeconds(), 1e-9);
        assertTrue(explained.fromSsd().seconds() > 0);
    }

    @Test
    void thePolicyOpenHasNoLongRunsAndPromotesTheFirstRead() throws IOException {
        assertEquals(Verdict.NOT_READ, onlyVerdict(whole, settings(Policy.OPEN, true, true)));
        assertEquals(Verdict.NOTHING_PROMOTES, onlyVerdict(whole, settings(Policy.OPEN, true, false)));
        assertEquals(Verdict.NOTHING_PROMOTES, onlyVerdict(whole, settings(Policy.OPEN, false, true)));
    }

    @Test
    void theVerdictFollowsThePolicy() throws IOException {
        long scattered = scattered();
        assertEquals(Verdict.NOTHING_PROMOTES, onlyVerdict(scattered, settings(Policy.COST, false, true)));
        assertEquals(Verdict.NOT_WANTED_AGAIN, onlyVerdict(scattered, settings(2, true)));
        assertEquals(Verdict.NEVER_READ_TWICE, onlyVerdict(scattered, settings(3, true)));
        assertEquals(Verdict.TOO_FEW_REFERENCES, onlyVerdict(scattered, settings(3, false)));
    }

    @Test
    void aFrameThatIsReadAnywayServesAllItsChunks() throws IOException {
        long two = make("two");
        // Neither next to each other, nor in two frames of 16 chunks.
        write(two, 0, 0, CHUNK);
        write(two, CHUNK, 2 * CHUNK, CHUNK);
        List<Chunk> chunks = chunks(two, 0, 10);
        FileExplanation explained =
                explain(two, chunk -> chunk == chunks.get(0).chunk().getChunkId(), settings(5, true));
        assertEquals(1, explained.verdicts().get(Verdict.ON_SSD).chunks());
        assertEquals(new SsdWork(0, 0, 0), explained.fromSsd());
        assertEquals(1, explained.withSsd().requests());
    }

    @Test
    void theChunksCanBeListedInParts() throws IOException {
        List<Chunk> all = chunks(whole, 0, Integer.MAX_VALUE);
        List<Chunk> parts = new ArrayList<>();
        while (parts.size() < all.size()) {
            long from = parts.isEmpty() ? 0 : parts.get(parts.size() - 1).fileOffset() + 1;
            parts.addAll(chunks(whole, from, 700));
        }
        assertEquals(all, parts);
        assertEquals(data.length / CHUNK, all.size());
        assertEquals(1, all.get(0).chunk().getCount());
        long container = ChunkId.container(all.get(0).chunk().getChunkId());
        long inContainer = all.stream()
                .filter(chunk -> ChunkId.container(chunk.chunk().getChunkId()) == container)
                .count();
        assertEquals(inContainer * CHUNK, all.get(0).runBytes(), "the run continues after the request");
        assertTrue(inContainer * CHUNK > 2 * MIB);
        Set<Long> ids = new HashSet<>();
        all.forEach(chunk -> ids.add(chunk.chunk().getChunkId()));
        assertEquals(all.size(), ids.size());
    }

    @Test
    void holesAndZerosAreNoChunks() throws IOException {
        long sparse = make("sparse");
        OpenFile file = volume.open(sparse, true);
        volume.write(file, 0, ByteBuffer.allocate(CHUNK));
        volume.sync();
        volume.close(file);
        write(sparse, 1L << 29, 0, CHUNK);
        List<Chunk> chunks = chunks(sparse, 0, 10);
        assertEquals(1, chunks.size());
        assertEquals(1L << 29, chunks.get(0).fileOffset());
        assertEquals(
                0, explain(make("empty"), chunk -> false, settings(5, true)).chunks());
    }

    @Test
    void aFolderIsNotExplained() {
        var e = assertThrows(PosixException.class, () -> explain(Inode.ROOT, chunk -> false, settings(5, true)));
        assertEquals(PosixException.Reason.EISDIR, e.reason());
    }

    @Test
    void secondsAreSeeksAndTransfer() {
        assertEquals(2 * DiskCost.SEEK_MICROS / 1e6 + 1, new DiskWork(2, 150_000_000).seconds(), 1e-9);
    }

    /** A file of one chunk out of every MiB of the other. */
    private long scattered() throws IOException {
        long scattered = make("scattered");
        for (int i = 0; i < WHOLE_MIB; i++) {
            write(scattered, (long) i * CHUNK, i * MIB, CHUNK);
        }
        return scattered;
    }

    private Verdict onlyVerdict(long inode, HotSettings settings) throws IOException {
        Set<Verdict> verdicts = new HashSet<>();
        volume.maintenance().explain(inode, 0, rules(chunk -> false, settings), chunk -> {
            verdicts.add(chunk.verdict());
            return true;
        });
        assertEquals(1, verdicts.size(), verdicts::toString);
        return verdicts.iterator().next();
    }

    private List<Chunk> chunks(long inode, long from, int most) throws IOException {
        List<Chunk> chunks = new ArrayList<>();
        volume.maintenance().explain(inode, from, rules(chunk -> false, settings(5, true)), chunk -> {
            chunks.add(chunk);
            return chunks.size() < most;
        });
        return chunks;
    }

    private FileExplanation explain(long inode, LongPredicate onSsd, HotSettings settings) throws IOException {
        return volume.maintenance().explain(inode, 0, rules(onSsd, settings), chunk -> true);
    }

    private static HotSettings settings(Policy policy, boolean enabled, boolean promoteOnRead) {
        return new HotSettings(enabled, MIB, 1, 128 << 10, promoteOnRead, 0, policy);
    }

    private static HotSettings settings(int threshold, boolean promoteOnRead) {
        return new HotSettings(true, MIB, threshold, 128 << 10, promoteOnRead, 0, Policy.REFERENCE_COUNT);
    }

    private static FileExplainer.Rules rules(LongPredicate onSsd, HotSettings settings) {
        int[] copies = new int[1];
        FileExplainer.Copies each = (chunk, entry) -> {
            entry.segment = copies[0]++;
            entry.offset = 0;
            entry.length = CHUNK;
            return onSsd.test(chunk);
        };
        return new FileExplainer.Rules(each, settings);
    }

    private void write(long inode, long offset, int from, int length) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(data, from, length));
        volume.sync();
        volume.close(file);
    }
}
