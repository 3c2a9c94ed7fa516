package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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

/** Which compressible chunks a full SSD accepts, and what remains known of them after the table was lost. */
class RanksTest extends OpenVolumeTrial {
    private static final int CHUNK = 4096;
    /** Short enough for a run of its own to be promoted. */
    private static final int CHUNKS_PER_FILE = 16;
    /** Live records of about 2 KiB fill such an SSD from about 2500 on. */
    private static final long CAPACITY = 12 << 20;

    private static final int RESIDENTS = 4000;
    private static final int CANDIDATES = 1500;

    private int files;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256).withSsd(folder.resolve("ssd"), threshold(2));
    }

    private static HotSettings threshold(int references) {
        return new HotSettings(true, CAPACITY, references, 128 << 10, true, 0, HotSettings.Policy.REFERENCE_COUNT);
    }

    @Test
    void threeReferencesTakeThePlaceOfTwo() throws Exception {
        checkLanding(2, 3);
    }

    @Test
    void sixReferencesTakeThePlaceOfFive() throws Exception {
        checkLanding(5, 6);
    }

    @Test
    void controlAsManyReferencesTakeNobodysPlace() throws Exception {
        fill(2);
        List<Long> candidates = write(2, CANDIDATES, 2);
        assertEquals(0, onSsd(candidates));
    }

    private void checkLanding(int residents, int candidates) throws Exception {
        fill(residents);
        List<Long> offered = write(2, CANDIDATES, candidates - 1);
        assertEquals(0, onSsd(offered), "no more than what is there");
        long demoted = status().demotion().bySpace();
        offered.addAll(writeOnce(2, CANDIDATES));
        assertTrue(onSsd(offered) >= CANDIDATES * 0.95, () -> "landed: " + onSsdQuietly(offered));
        assertTrue(status().demotion().bySpace() > demoted);
    }

    private long onSsdQuietly(List<Long> inodes) {
        try {
            return onSsd(inodes);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Fills the SSD with chunks of this number of references, so that some had to be demoted. */
    private void fill(int references) throws Exception {
        write(1, RESIDENTS, references);
        assertTrue(status().demotion().bySpace() > 0, "the SSD is not full");
    }

    @Test
    void aTableThatWasLostKeepsWhatStillQualifies() throws Exception {
        List<Long> three = write(1, 160, 3);
        List<Long> four = write(2, 160, 4);
        assertEquals(160, onSsd(three));
        assertEquals(160, onSsd(four));
        volume.close();
        try (Stream<Path> map = Files.list(folder.resolve("ssd/map"))) {
            for (Path file : map.toList()) {
                Files.delete(file);
            }
        }
        volume = Volume.open(config);
        assertEquals(160, onSsd(three));
        volume.hot().change(threshold(4));
        TestWait.until(() -> !status().demotion().running());
        assertEquals(0, onSsd(three));
        assertEquals(160, onSsd(four));
        assertEquals(160, status().demotion().bySettings());
    }

    private Status status() {
        return volume.hot().status();
    }

    /** Writes files with this number of chunks, this number of times. Returns the last ones. */
    private List<Long> write(long seed, int chunks, int times) throws Exception {
        List<Long> inodes = new ArrayList<>();
        for (int time = 0; time < times; time++) {
            inodes = writeOnce(seed, chunks);
        }
        return inodes;
    }

    private List<Long> writeOnce(long seed, int chunks) throws Exception {
        Random random = new Random(seed);
        List<Long> inodes = new ArrayList<>();
        byte[] data = new byte[CHUNKS_PER_FILE * CHUNK];
        for (int written = 0; written < chunks; written += CHUNKS_PER_FILE) {
            int length = Math.min(CHUNKS_PER_FILE, chunks - written) * CHUNK;
            fill(random, data);
            byte[] name = ("f" + files++).getBytes(UTF_8);
            long inode = volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0))
                    .inode();
            OpenFile file = volume.open(inode, true);
            volume.write(file, 0, ByteBuffer.wrap(data, 0, length));
            volume.sync();
            volume.close(file);
            inodes.add(inode);
            // No more at a time than the queue accepts.
            TestWait.until(() -> status().log().queuedBytes() < 1 << 20);
        }
        TestWait.until(() -> status().log().queuedBytes() == 0);
        return inodes;
    }

    /** Chunks of which half is random, and half is not. */
    private static void fill(Random random, byte[] data) {
        byte[] half = new byte[CHUNK / 2];
        for (int at = 0; at < data.length; at += CHUNK) {
            random.nextBytes(half);
            System.arraycopy(half, 0, data, at, half.length);
            java.util.Arrays.fill(data, at + half.length, at + CHUNK, (byte) 'x');
        }
    }

    private long onSsd(List<Long> inodes) throws IOException {
        HotSettings settings = threshold(2);
        var rules = new FileExplainer.Rules(volume.hot()::find, settings);
        java.util.Set<Long> found = new java.util.HashSet<>();
        for (long inode : inodes) {
            volume.maintenance().explain(inode, 0, rules, chunk -> {
                if (chunk.verdict() == Verdict.ON_SSD) {
                    found.add(chunk.chunk().getChunkId());
                }
                return true;
            });
        }
        return found.size();
    }
}
