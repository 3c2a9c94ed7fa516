package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.cache.CacheChoice;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.cache.ContainerContents;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;

/**
 * A volume reads as many containers for a file as its policy's classes count from the recipe alone, as in the
 * simulator.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ContainerReadsTest {
    private static final int MIB = 1 << 20;
    private static final int CONTAINER_BYTES = 4 * MIB;
    /** Memory of one reader; a quarter is the cache. */
    private static final int BUDGET = 33 * MIB;

    /** So large that a reader may use its whole budget. */
    private static final long VOLUME_BUDGET = 512L * MIB;

    /** A quarter of the bytes that a reader may have fetched and not passed, which is 5/8 of the budget. */
    private static final int MAX_STEP_BYTES = BUDGET / 8 * 5 / 4;

    private static final int REQUEST = 256 << 10;
    /**
     * Two steps may be in progress; the window is small at first; the first requests are read before the sequence is
     * detected.
     */
    private static final double MARGIN = 0.15;
    /**
     * For policies that keep chunks: which reads precede the full window depends on the reader's speed. A file like
     * this one is read with 0.7 to 1.15 times as many reads, and with the log 0.95 to 1.18 times.
     */
    private static final double MARGIN_OF_WINDOWS = 0.3;

    private final List<Long> recipe = new ArrayList<>();
    /** The lengths of all chunks, by container and slot. */
    private final Map<Long, TreeMap<Integer, Integer>> containers = new TreeMap<>();

    private VolumeConfig config;

    @BeforeAll
    void makeFragmentedFile(@MemoryFolder Path folder) throws IOException {
        config = VolumeConfigs.in(folder, 1L << 30, Chunking.VARIABLE_SHA256).withMemoryBudget(VOLUME_BUDGET);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            FragmentedFiles files = new FragmentedFiles(volume, new Random(TestSeed.next()), 64 * MIB);
            files.write("file", 48 * MIB, 256 << 10);
        }
        try (Volume volume = Volume.open(config)) {
            addChunks(volume, "old");
            recipe.clear();
            addChunks(volume, "file");
        }
    }

    private static long inode(Volume volume, String name) throws IOException {
        return volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
    }

    private void addChunks(Volume volume, String name) throws IOException {
        long inode = inode(volume, name);
        volume.maintenance().forEachReference(inode, (offset, chunkId, chunkOffset, length, fingerprintPrefix) -> {
            if (recipe.isEmpty() || recipe.get(recipe.size() - 1) != chunkId) {
                recipe.add(chunkId);
            }
            containers
                    .computeIfAbsent(ChunkId.container(chunkId), id -> new TreeMap<>())
                    .merge(ChunkId.slot(chunkId), chunkOffset + length, Math::max);
        });
    }

    private int length(long chunkId) {
        return containers.get(ChunkId.container(chunkId)).get(ChunkId.slot(chunkId));
    }

    /** Number of containers that a volume reads for a file. */
    private long readByVolume(CachePolicy policy) throws IOException, InterruptedException {
        try (Volume volume = Volume.open(config.withRestore(new RestoreSettings(
                CacheChoice.of(policy), OptionalLong.of(BUDGET), OptionalLong.empty(), 0.25, DiskOption.AUTO)))) {
            long inode = inode(volume, "file");
            OpenFile file = volume.open(inode, false);
            ByteBuffer target = ByteBuffer.allocate(REQUEST);
            for (long at = 0; volume.read(file, at, target.clear()) > 0; at += REQUEST) {}
            List<StreamStatus> readers = volume.readers();
            assertEquals(1, readers.size());
            volume.close(file);
            StreamStatus last = readers.get(0);
            for (List<StreamStatus> now = volume.readers(); !now.isEmpty(); now = volume.readers()) {
                last = now.get(0);
                Thread.sleep(1);
            }
            return last.containerReads();
        }
    }

    /** Like the simulator: from the recipe, whole containers. */
    private long counted(CachePolicy policy) {
        ContainerCache cache = policy.make(CacheParameters.of(BUDGET / 4, CONTAINER_BYTES), new ChunkHolder() {
            @Override
            public void keep(long chunkId) {}

            @Override
            public void drop(long chunkId) {}
        });
        long[] ends = ends();
        // A whole-container policy is asked chunk by chunk. The steps of the others begin with 1 MiB and double.
        long stepBytes = cache.takesWholeContainers() ? 1 : MIB;
        long reads = 0;
        int told = 0;
        for (int at = 0, end; at < recipe.size(); at = end) {
            end = at + 1;
            while (end < recipe.size() && ends[end - 1] - (at == 0 ? 0 : ends[at - 1]) < stepBytes) {
                end++;
            }
            while (told < recipe.size() && (told < end || ends[told - 1] - ends[end - 1] < cache.windowBytes())) {
                cache.ahead(recipe.get(told), length(recipe.get(told)));
                told++;
            }
            reads += readLacking(cache, recipe.subList(at, end));
            stepBytes = cache.takesWholeContainers() ? 1 : Math.min(MAX_STEP_BYTES, 2 * stepBytes);
        }
        return reads;
    }

    /** By reference, the bytes of all references up to it. */
    private long[] ends() {
        long[] ends = new long[recipe.size()];
        for (int i = 0; i < ends.length; i++) {
            ends[i] = (i == 0 ? 0 : ends[i - 1]) + length(recipe.get(i));
        }
        return ends;
    }

    private int readLacking(ContainerCache cache, List<Long> step) {
        Set<Long> lacking = new TreeSet<>();
        step.stream()
                .filter(chunkId -> !cache.contains(chunkId))
                .map(ChunkId::container)
                .forEach(lacking::add);
        lacking.forEach(container -> cache.read(container, new Whole(containers.get(container))));
        step.forEach(chunkId -> cache.advance());
        return lacking.size();
    }

    private static final class Whole implements ContainerContents {
        private final List<Map.Entry<Integer, Integer>> chunks;

        Whole(TreeMap<Integer, Integer> lengths) {
            chunks = List.copyOf(lengths.entrySet());
        }

        @Override
        public int chunksInContainer() {
            return chunks.get(chunks.size() - 1).getKey() + 1;
        }

        @Override
        public int count() {
            return chunks.size();
        }

        @Override
        public int slot(int index) {
            return chunks.get(index).getKey();
        }

        @Override
        public int bytes(int index) {
            return chunks.get(index).getValue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aVolumeReadsAsManyAsAreCounted(CachePolicy policy) throws Exception {
        long counted = counted(policy);
        long read = readByVolume(policy);
        // The policies that keep chunks need not read again what the reader has ahead of it.
        boolean hasLongWindow = policy == CachePolicy.ASSEMBLY || policy == CachePolicy.DEFAULT;
        // Nor the chunks of victims that the log keeps.
        boolean goesByWindow = hasLongWindow || policy == CachePolicy.LOOKAHEAD_LOG;
        double margin = goesByWindow ? MARGIN_OF_WINDOWS : MARGIN;
        assertTrue(read <= 1 + (1 + margin) * counted, () -> read + " containers read, " + counted + " were counted");
        assertTrue(
                hasLongWindow || read >= (1 - margin) * counted - 1,
                () -> read + " containers read, " + counted + " were counted");
    }
}
