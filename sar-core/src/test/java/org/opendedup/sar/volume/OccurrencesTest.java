package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.FileExplainer;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/**
 * References for promotion and statistics are occurrences of a chunk in files, wherever the borders of recipe pages
 * are.
 */
class OccurrencesTest extends OpenVolumeTrial {
    private static final int THRESHOLD = 3;
    /** Runs of any length are promoted: only references decide here. */
    private static final HotSettings SETTINGS =
            new HotSettings(true, 64 << 20, THRESHOLD, 1 << 30, false, 1000, HotSettings.Policy.REFERENCE_COUNT);

    private int files;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256).withSsd(folder.resolve("ssd"), SETTINGS);
    }

    @Test
    void noChunkOfAFileWithoutRepetitionsHasTwoReferences() throws IOException {
        long inode = make();
        write(inode, 0, random(20 * MIB));
        TreeMap<Integer, Integer> byReferences = new TreeMap<>();
        FileExplanation explained = volume.maintenance().explain(inode, 0, rules(), chunk -> {
            byReferences.merge(chunk.chunk().getCount(), 1, Integer::sum);
            return true;
        });
        assertEquals(Map.of(1, (int) volume.statistics().chunks()), byReferences);
        assertEquals(volume.statistics().chunks(), explained.chunks());
        assertEquals(20L * MIB, explained.bytes());
        assertTrue(
                recount(volume.context().metadata(), false).containsValue(2),
                "no chunk crosses a page: this shows nothing");
    }

    @Test
    void countsAreThoseOfARecountAfterRandomChanges() throws IOException {
        Random random = new Random(TestSeed.next());
        byte[] data = random(2 * MIB);
        long[] inodes = {make(), make(), make()};
        for (int step = 0; step < 150; step++) {
            long inode = inodes[random.nextInt(inodes.length)];
            long other = inodes[random.nextInt(inodes.length)];
            long at = random.nextInt(MIB);
            int length = 1 + random.nextInt(MIB);
            switch (random.nextInt(6)) {
                case 0, 1 -> write(inode, at, slice(data, random.nextInt(MIB), length));
                case 2 -> zero(inode, at, length / 4);
                case 3 -> volume.change(inode, AttributeChange.ofSize(random.nextInt(2 * MIB)));
                default -> copy(inode, random.nextInt(MIB), other, at, length);
            }
            if (step % 10 == 9) {
                checkCounts();
            }
        }
        volume.close();
        volume = Volume.open(config);
        checkCounts();
    }

    private void checkCounts() throws IOException {
        volume.secureAll();
        MetadataStore metadata = volume.context().metadata();
        Map<Long, Integer> exact = recount(metadata, false);
        Map<Long, Integer> begun = recount(metadata, true);
        long[] ids = exact.keySet().stream().mapToLong(Long::longValue).toArray();
        int[] occurrences = new int[ids.length];
        metadata.counts().occurrences(ids, ids.length, occurrences);
        for (int i = 0; i < ids.length; i++) {
            String chunk = ChunkId.toString(ids[i]);
            assertEquals(exact.get(ids[i]), metadata.counts().count(ids[i]), chunk);
            // A chunk that is referenced only from after its first byte is nevertheless wanted.
            int expected = Math.max(1, begun.getOrDefault(ids[i], 0));
            assertEquals(expected, occurrences[i], chunk);
            assertEquals(expected, metadata.counts().occurrences(ids[i]), chunk);
        }
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** References to each chunk in all recipes; only those that begin with its first byte, or all. */
    private static Map<Long, Integer> recount(MetadataStore metadata, boolean begun) throws IOException {
        Map<Long, Integer> counts = new TreeMap<>();
        metadata.namespace()
                .someInodes(
                        1,
                        Integer.MAX_VALUE,
                        inode -> metadata.recipes().forEachPage(inode.id(), 0, Long.MAX_VALUE, (number, page) -> {
                            for (int entry = 0; entry < page.count(); entry++) {
                                if (!page.isZero(entry) && (!begun || page.chunkOffset(entry) == 0)) {
                                    counts.merge(page.chunkId(entry), 1, Integer::sum);
                                }
                            }
                        }));
        return counts;
    }

    private static FileExplainer.Rules rules() {
        return new FileExplainer.Rules((chunk, entry) -> false, SETTINGS);
    }

    private long make() throws IOException {
        byte[] name = ("f" + files++).getBytes(UTF_8);
        return volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
    }

    private void zero(long inode, long offset, long length) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.zero(file, offset, length, true);
        volume.close(file);
    }

    private void copy(long source, long from, long target, long to, int length) throws IOException {
        if (source == target) {
            return;
        }
        OpenFile sourceFile = volume.open(source, false);
        OpenFile targetFile = volume.open(target, true);
        volume.copy(sourceFile, from, targetFile, to, length);
        volume.close(targetFile);
        volume.close(sourceFile);
    }

    private static byte[] slice(byte[] data, int from, int length) {
        return java.util.Arrays.copyOfRange(data, from, Math.min(data.length, from + length));
    }
}
