package org.opendedup.sar.restore.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.frame.StopCheck;

/** A restore in container order gives other readers turns at the disk. */
class DiskTurnsTest {
    private static final int CHUNKS = 500;

    @TempDir
    Path folder;

    @Test
    void itTakesOneForEachContainerAndTellsItsRequests() throws IOException {
        Path stored = Files.createDirectory(folder.resolve("stored"));
        try (HotVolume volume = new HotVolume(stored, TestSeed.next(), CHUNKS);
                Places places = new Places(
                        FileDirectory.open(Files.createDirectory(folder.resolve("scratch"))),
                        1 << 20,
                        StopCheck.NEVER)) {
            Set<Long> containers = new TreeSet<>();
            long offset = 0;
            for (int i = 0; i < CHUNKS; i++) {
                byte[] chunk = volume.chunks.get(i);
                int fingerprintPrefix = Fingerprints.fingerprintPrefix(HotVolume.fingerprint(chunk), 0);
                places.add(volume.ids.get(i), 0, chunk.length, fingerprintPrefix, 1, offset);
                offset += chunk.length;
                containers.add(ChunkId.container(volume.ids.get(i)));
            }
            AtomicInteger asked = new AtomicInteger();
            // The queue asks for the bytes read from devices when a turn begins, and after each reported request.
            DiskQueue queue = new DiskQueue(DiskOption.AUTO, true, System::nanoTime, () -> {
                asked.incrementAndGet();
                return OptionalLong.empty();
            });
            AtomicInteger written = new AtomicInteger();
            new ContainerOrderRestore(volume.containers, queue, true)
                    .restore(
                            places,
                            0,
                            new PlaceWriter() {
                                @Override
                                public void write(long file, long at, byte[] data, int from, int length) {
                                    written.addAndGet(length);
                                }

                                @Override
                                public void damaged(long file, long at, int length, IOException why) {
                                    throw new AssertionError(why);
                                }
                            },
                            new ContainerOrderRestore.Milestones() {
                                @Override
                                public boolean isDue() {
                                    return false;
                                }

                                @Override
                                public void reached(long container, long bytes) {}
                            });
            assertEquals(offset, written.get());
            assertEquals(containers.size(), queue.turns());
            // Every chunk is wanted, so each container is one request.
            assertEquals(2 * containers.size(), asked.get());
            assertEquals(0, queue.status().readers());
        }
    }
}
