package org.opendedup.sar.crash;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.store.VolumeStores;

/** Cuts the power at each step of a defragmentation: between append and commit, and in the middle of either. */
@Timeout(120)
class DefragmentationCrashTest {
    private static final int CHUNK = 4096;
    private static final int CONTAINERS = 2;
    private static final int OLD_BYTES = CONTAINERS * (4 << 20) + (1 << 20);
    private static final byte[] NAME = "file".getBytes(UTF_8);
    /** More calls of the stores than a defragmentation makes. */
    private static final int NEVER = 1_000_000;

    private final VolumeConfig config = TestVolumes.config(Path.of("in memory"), Chunking.SHA256);
    private final InstantSource clock = InstantSource.system();
    private final byte[] old = new byte[OLD_BYTES];
    private final byte[] content = new byte[64 * CHUNK];

    @Test
    void aCrashAtAnyStepLosesNothing() throws IOException {
        int steps = 0;
        Trial trial;
        do {
            trial = new Trial(steps, false);
            assertEquals(Optional.empty(), trial.problem(), "power off after " + steps + " steps");
            steps++;
        } while (trial.interrupted);
        assertTrue(steps > 3, "it was done after " + steps + " steps");
    }

    @Test
    void copiesThatWereNotForcedAreFoundMissing() throws IOException {
        boolean found = false;
        for (int seed = 0; seed < 10 && !found; seed++) {
            found = new Trial(NEVER + seed, true).problem().isPresent();
        }
        assertTrue(found, "a force that does nothing was not noticed");
    }

    private final class Trial {
        private final int steps;
        private final CrashDirectory containers;
        private final CrashKeyValueStore metadata = new CrashKeyValueStore();
        private final boolean lies;
        boolean interrupted;

        /** @param lies whether forcing containers does nothing while the file is defragmented */
        Trial(int steps, boolean lies) {
            this.steps = steps;
            this.lies = lies;
            containers = new CrashDirectory(steps);
        }

        /** What is wrong after the crash. */
        Optional<String> problem() throws IOException {
            PowerCut power = new PowerCut(() -> metadata.failNextCommits(1));
            Volume.create(config, containers, metadata, clock);
            // Containers are sealed in the background, and only sealed ones are rewritten: after a close all of them
            // are sealed.
            try (Volume written = open(containers, metadata)) {
                writeFragmented(written);
            }
            Volume volume = open(power.guard(containers), power.guard(metadata));
            containers.setForceDoesNothing(lies);
            power.after(steps);
            try {
                long inode = volume.lookup(Inode.ROOT, NAME).inode();
                Defragmentation done = volume.maintenance()
                        .defragment(inode, DiskModel.HDD, new Defragmentation.Limits(1, false), Progress.NONE);
                assertTrue(done.rewrittenChunks() >= CONTAINERS, done::toString);
            } catch (IOException e) {
                interrupted = true;
            }
            power.now();
            CrashDirectory containersLeft = containers.crash(steps);
            CrashKeyValueStore metadataLeft = metadata.crash(steps);
            try {
                volume.close();
            } catch (IOException e) {
                // Expected, because its stores have no power.
            }
            return judge(containersLeft, metadataLeft);
        }

        private Optional<String> judge(CrashDirectory containersLeft, CrashKeyValueStore metadataLeft)
                throws IOException {
            try (Volume found = open(containersLeft, metadataLeft)) {
                if (!VolumeChecker.check(found).isEmpty()) {
                    return Optional.of(VolumeChecker.check(found).toString());
                }
                return Arrays.equals(content, read(found)) ? Optional.empty() : Optional.of("other bytes");
            } catch (IOException e) {
                return Optional.of(e.toString());
            }
        }

        private Volume open(Directory directory, org.opendedup.sar.metadata.db.KeyValueStore database)
                throws IOException {
            return Volume.open(
                    config,
                    new VolumeStores(directory, database, new HeapChunkIndex(), clock),
                    Verification.FINGERPRINTS);
        }
    }

    /** A file of a few chunks of each container of another one, between chunks of its own. */
    private void writeFragmented(Volume volume) throws IOException {
        Random random = new Random(1);
        random.nextBytes(old);
        write(volume, "old".getBytes(UTF_8), old);
        random.nextBytes(content);
        for (int i = 0; i < 16; i++) {
            System.arraycopy(old, i * (OLD_BYTES / 16 / CHUNK) * CHUNK, content, 4 * i * CHUNK, CHUNK);
        }
        write(volume, NAME, content);
    }

    private static void write(Volume volume, byte[] name, byte[] data) throws IOException {
        long inode =
                volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync(file);
        volume.close(file);
    }

    private byte[] read(Volume volume) throws IOException {
        OpenFile file = volume.open(volume.lookup(Inode.ROOT, NAME).inode(), false);
        ByteBuffer target = ByteBuffer.allocate(content.length);
        volume.read(file, 0, target);
        volume.close(file);
        return target.array();
    }
}
