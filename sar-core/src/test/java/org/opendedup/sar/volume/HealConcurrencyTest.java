package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Healing beside readers, writers, collections and scrubs: never wrong bytes, and at the end everything is whole. */
@Timeout(300)
class HealConcurrencyTest {
    private static final int ROUNDS = 3;
    private static final int FILES = 4;
    private static final int BYTES = 1 << 20;
    private static final int CONTAINER_HEADER_BYTES = 32;
    private static final int FRAME_HEADER_BYTES = 48;

    @MemoryFolder
    Path folder;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private final Map<String, byte[]> contents = new TreeMap<>();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private VolumeConfig config;

    /** @param packIsGone whether a pack is deleted; otherwise frames are damaged */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void filesAreWholeAfterHealingBesideOthers(boolean packIsGone) throws Exception {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        for (int round = 0; round < ROUNDS; round++) {
            try (Volume volume = Volume.open(config)) {
                store(volume, "file" + round);
            }
            if (packIsGone) {
                Files.delete(PackedContainer.packs(config.locations().data()).get(0));
            } else {
                damageFrames();
            }
            try (Volume volume = Volume.open(config)) {
                volume.maintenance().scrub().run((totals, rest, next) -> true);
                volume.context().damaged().noteMissingPacks();
                assertTrue(
                        volume.maintenance().heal().unhealedChunks()
                                        + volume.context().damaged().missingPacks()
                                > 0,
                        "control: there is damage");
                healBesideOthers(volume, round);
            }
            try (Volume volume = Volume.open(config)) {
                assertWhole(volume);
            }
        }
    }

    private void store(Volume volume, String prefix) throws IOException {
        for (int file = 0; file < FILES; file++) {
            byte[] bytes = new byte[BYTES];
            random.nextBytes(bytes);
            GarbageTrial.store(volume, prefix + "-" + file, bytes);
            contents.put(prefix + "-" + file, bytes);
        }
    }

    /** Damages the first frame of each container, in its payload. */
    private void damageFrames() throws IOException {
        for (PackedContainer container : PackedContainer.in(config.locations().data())) {
            ByteBuffer all = ByteBuffer.wrap(container.read()).order(ByteOrder.LITTLE_ENDIAN);
            int list = all.getInt(CONTAINER_HEADER_BYTES + 28);
            int stored = all.getInt(CONTAINER_HEADER_BYTES + 36);
            container.overwrite(CONTAINER_HEADER_BYTES + FRAME_HEADER_BYTES + list, new byte[stored]);
        }
    }

    private void healBesideOthers(Volume volume, int round) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        List<Thread> others = new ArrayList<>();
        others.add(repeat(done, () -> volume.maintenance().heal().run(soFar -> true)));
        others.add(repeat(
                done, () -> volume.collector().collect(new CollectionLimits(0, false), (some, of, returned) -> true)));
        others.add(repeat(done, () -> volume.maintenance().scrub().run((totals, rest, next) -> true)));
        others.add(repeat(done, () -> readAll(volume)));
        try {
            for (Map.Entry<String, byte[]> file : contents.entrySet()) {
                GarbageTrial.store(volume, file.getKey() + "-again" + round, file.getValue());
            }
        } finally {
            done.set(true);
            for (Thread other : others) {
                other.join();
            }
        }
        volume.maintenance().heal().run(soFar -> true);
        assertWhole(volume);
        for (String name : contents.keySet()) {
            volume.unlink(Inode.ROOT, (name + "-again" + round).getBytes(UTF_8));
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private Thread repeat(AtomicBoolean done, Work work) {
        Thread thread = new Thread(() -> {
            try {
                do {
                    work.run();
                } while (!done.get());
            } catch (IOException | RuntimeException | AssertionError e) {
                problems.add(e.toString());
            }
        });
        thread.start();
        return thread;
    }

    /** An error is no wrong byte: the file may still be damaged. */
    private void readAll(Volume volume) {
        contents.forEach((name, bytes) -> {
            try {
                if (!Arrays.equals(bytes, GarbageTrial.read(volume, name, bytes.length))) {
                    problems.add(name + " has other bytes");
                }
            } catch (IOException damaged) {
                assertTrue(damaged.getMessage() != null, "an error says what is damaged");
            }
        });
    }

    private void assertWhole(Volume volume) throws IOException {
        assertEquals(List.of(), List.copyOf(problems));
        assertEquals(0, volume.maintenance().heal().unhealedChunks());
        volume.context().damaged().noteMissingPacks();
        assertEquals(0, volume.context().damaged().missingPacks());
        for (Map.Entry<String, byte[]> file : contents.entrySet()) {
            assertArrayEquals(file.getValue(), GarbageTrial.read(volume, file.getKey(), BYTES), file.getKey());
        }
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
    }
}
