package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.FileExplainer;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.hot.HotChunks.Status;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Chunks that are judged by the recipe, because their bytes are not in memory or their run was not complete: promoted
 * like any other duplicate.
 */
class LatePromotionTest extends OpenVolumeTrial {
    /** Time for which nothing is noted of a file before it is judged. */
    private static final String QUIET = "sar.promotion.quiet.ms";
    /** Longer than a busy machine stops the writer of a file: what is written of it by then is judged as the whole. */
    private static final String QUIET_MS = "2000";

    private static final int CHUNK = 4096;
    private static final int MAX_RUN = 128 << 10;

    private int files;

    @AfterAll
    static void clear() {
        System.clearProperty(QUIET);
    }

    @Override
    VolumeConfig configured() {
        System.setProperty(QUIET, QUIET_MS);
        return VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256).withSsd(folder.resolve("ssd"), settings(5));
    }

    private static HotSettings settings(int threshold) {
        return new HotSettings(true, 64 << 20, threshold, MAX_RUN, false, 1000, HotSettings.Policy.REFERENCE_COUNT);
    }

    @Test
    void whatIsCopiedByItsReferencesIsPromoted() throws Exception {
        byte[] data = random(1, 400 * CHUNK);
        List<Long> four = new ArrayList<>();
        List<Long> eleven = new ArrayList<>();
        for (int at = 0; at < data.length; at += 64 << 10) {
            int length = Math.min(64 << 10, data.length - at);
            eleven.add(write(data, at, length, length));
            byte[] few = random(2 + at, length);
            four.add(write(few, 0, length, length));
        }
        for (int copy = 0; copy < 3; copy++) {
            copyAll(four);
        }
        for (int copy = 0; copy < 10; copy++) {
            copyAll(eleven);
        }
        TestWait.until(() -> status().mapTableEntries() >= 400);
        assertEquals(
                400, chunks(eleven, volume.hot()::contains, 5, Verdict.ON_SSD).size());
        assertEquals(Set.of(), chunks(four, volume.hot()::contains, 5, Verdict.ON_SSD), "four references");
        // They are counted when the batch that wrote them is complete.
        TestWait.until(() -> status().promotion().byWrite() >= 400);
        assertEquals(400, status().promotion().byWrite());
    }

    private void copyAll(List<Long> inodes) throws IOException {
        for (long inode : inodes) {
            OpenFile source = volume.open(inode, false);
            OpenFile target = volume.open(make(), true);
            long length = volume.attributes(inode).size();
            assertEquals(length, volume.copy(source, 0, target, 0, length));
            volume.close(target);
            volume.close(source);
        }
    }

    @Test
    void aRunOverTheBorderOfTwoSegmentsIsLong() throws Exception {
        volume.hot().change(settings(2));
        byte[] base = random(1, 4 * MIB);
        write(base, 0, base.length, base.length);
        byte[] file = random(2, 4 * MIB);
        // 80 KiB before the border at 2 MiB, and 80 KiB after it; and a short one over the next page's border.
        System.arraycopy(base, MIB, file, 2 * MIB - (80 << 10), 160 << 10);
        System.arraycopy(base, 2 * MIB, file, 3 * MIB - (20 << 10), 40 << 10);
        long inode = write(file, 0, file.length, file.length);
        TestWait.until(() -> status().mapTableEntries() == 10);
        Set<Long> longRun = chunks(List.of(inode), chunk -> false, 2, Verdict.LONG_RUN);
        assertTrue(longRun.stream().noneMatch(volume.hot()::contains), "chunks of a run of 160 KiB are promoted");
        assertEquals(
                10,
                chunks(List.of(inode), chunk -> false, 2, Verdict.NOT_WANTED_AGAIN)
                        .size());
    }

    @Test
    void promotionAndExplainAgreeOnRuns() throws Exception {
        volume.hot().change(settings(2));
        Random random = new Random(TestSeed.next());
        byte[] base = random(random.nextLong(), 8 * MIB);
        write(base, 0, base.length, base.length);
        List<Long> inodes = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            byte[] file = new byte[2 * MIB + random.nextInt(3 * MIB / CHUNK) * CHUNK];
            mix(random, base, file);
            inodes.add(write(file, 0, file.length, 4096 + random.nextInt(MIB)));
            TestWait.until(() -> status().log().queuedBytes() == 0);
        }
        Set<Long> wanted = chunks(inodes, chunk -> false, 2, Verdict.NOT_WANTED_AGAIN);
        assertNotEquals(Set.of(), chunks(inodes, chunk -> false, 2, Verdict.LONG_RUN));
        TestWait.until(
                () -> chunks(inodes, volume.hot()::contains, 2, Verdict.ON_SSD).containsAll(wanted));
        assertEquals(wanted, chunks(inodes, volume.hot()::contains, 2, Verdict.ON_SSD));
    }

    /** Fills a file with pieces of another, of 4 to 256 KiB, with zeros, and with unique data. */
    private static void mix(Random random, byte[] base, byte[] file) {
        for (int at = 0; at < file.length; ) {
            int length = Math.min(file.length - at, (1 + random.nextInt(64)) * CHUNK);
            switch (random.nextInt(4)) {
                case 0 -> at += length;
                case 1 -> {
                    byte[] fresh = new byte[Math.min(length, 4 * CHUNK)];
                    random.nextBytes(fresh);
                    System.arraycopy(fresh, 0, file, at, fresh.length);
                    at += fresh.length;
                }
                default -> {
                    int from = random.nextInt((base.length - length) / CHUNK) * CHUNK;
                    System.arraycopy(base, from, file, at, length);
                    at += length;
                }
            }
        }
    }

    private Status status() {
        return volume.hot().status();
    }

    private long make() throws IOException {
        byte[] name = ("f" + files++).getBytes(UTF_8);
        return volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
    }

    /** Writes a file in pieces of this number of bytes. */
    private long write(byte[] data, int from, int length, int pieceBytes) throws IOException {
        long inode = make();
        OpenFile file = volume.open(inode, true);
        for (int at = 0; at < length; at += pieceBytes) {
            volume.write(file, at, ByteBuffer.wrap(data, from + at, Math.min(pieceBytes, length - at)));
        }
        volume.secure(file);
        volume.close(file);
        return inode;
    }

    /** The chunks of files with that verdict. */
    private Set<Long> chunks(List<Long> inodes, LongPredicate onSsd, int threshold, Verdict verdict)
            throws IOException {
        HotSettings settings = settings(threshold);
        var rules = new FileExplainer.Rules((chunk, entry) -> onSsd.test(chunk), settings);
        Set<Long> found = new TreeSet<>();
        for (long inode : inodes) {
            volume.maintenance().explain(inode, 0, rules, chunk -> {
                if (chunk.verdict() == verdict) {
                    found.add(chunk.chunk().getChunkId());
                }
                return true;
            });
        }
        return found;
    }

    private static byte[] random(long seed, int length) {
        byte[] data = new byte[length];
        new Random(seed).nextBytes(data);
        return data;
    }
}
