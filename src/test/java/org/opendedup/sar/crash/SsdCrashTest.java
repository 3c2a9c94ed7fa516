package org.opendedup.sar.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.model.BeforeCalls;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Op;
import org.opendedup.sar.model.Pairs;
import org.opendedup.sar.model.SsdTroubles;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume that loses power, and whose SSD is found in another state than the volume. Only the volume's state counts.
 */
class SsdCrashTest {
    private static final int OPS = 100;
    private static final int OPS_PER_PAIR = 20;
    private static final int SEEDS = 1;
    private static final int MAX_CALLS_BEFORE_COPY = 300;

    /** The state found on the SSD. */
    private enum Found {
        /** Everything written to it, including chunks that the volume lost. */
        NEWER,
        /** The state of an earlier moment, with files copied one after the other while they were written. */
        OLDER,
        /** The last log, and an earlier Map table. */
        OLDER_MAP_TABLE,
        /** The last Map table, and an earlier log. */
        OLDER_LOG,
        /** A part of each file. */
        CUT_OFF
    }

    @TempDir
    Path folder;

    private final AtomicLong hits = new AtomicLong();

    @ParameterizedTest
    @EnumSource
    void afterACrashOnlyTheVolumeCountsWhateverIsOnItsSsd(Found found) throws IOException {
        for (long seed : TestSeed.upTo(SEEDS).toArray()) {
            for (Chunking chunking : Chunking.values()) {
                new CrashTrial(made -> new VolumeWithSsd(chunking, found, made), SsdCrashTest::withPairs)
                        .check(seed, OPS, getClass());
            }
        }
        assertTrue(hits.get() > 0, "nothing was read from the SSD after the crash");
    }

    private static List<Op> withPairs(List<Op> random) {
        List<Op> ops = new ArrayList<>();
        for (int i = 0; i < random.size(); i++) {
            if (i % OPS_PER_PAIR == 0) {
                ops.addAll(Pairs.write(i / OPS_PER_PAIR));
            }
            ops.add(random.get(i));
        }
        return ops;
    }

    private final class VolumeWithSsd extends VolumeCrashTest.VolumeInMemory {
        private final Path ssd;
        private final Path earlier;
        private final Found found;
        private final SplittableRandom random;
        private int callsBeforeCopy;
        private Volume volume;

        private VolumeWithSsd(Chunking chunking, Found found, long seed) throws IOException {
            this(Files.createTempDirectory(folder, "volume"), chunking, found, seed);
        }

        private VolumeWithSsd(Path own, Chunking chunking, Found found, long seed) throws IOException {
            super(config(own, chunking), VolumeCrashTest.Promise.KEPT, seed);
            ssd = Files.createDirectory(own.resolve("ssd"));
            earlier = own.resolve("earlier");
            this.found = found;
            random = new SplittableRandom(seed);
            callsBeforeCopy = random.nextInt(MAX_CALLS_BEFORE_COPY);
        }

        private static VolumeConfig config(Path own, Chunking chunking) {
            return TestVolumes.config(own, chunking).withSsd(own.resolve("ssd"), SsdTroubles.SETTINGS);
        }

        @Override
        Volume open(VolumeConfig config, VolumeStores stores) throws IOException {
            // A volume that hashes everything it reads does not use its SSD.
            volume = Volume.open(config, stores, Verification.CHECKSUMS);
            if (volume.hot().status().state() == SsdState.DETACHED) {
                // It is new, and the SSD is empty.
                volume.hot().attach(ssd);
            }
            return volume;
        }

        @Override
        public FileSystem start() throws IOException {
            return BeforeCalls.of(super.start(), method -> {
                if (callsBeforeCopy-- == 0) {
                    copy(ssd, earlier);
                }
            });
        }

        @Override
        void afterCrash() throws IOException {
            if (!Files.exists(earlier)) {
                copy(ssd, earlier);
            }
            switch (found) {
                case NEWER -> {}
                case OLDER -> takeBack("");
                case OLDER_MAP_TABLE -> takeBack("map");
                case OLDER_LOG -> takeBack("segments");
                case CUT_OFF -> cutOff();
            }
        }

        private void takeBack(String part) throws IOException {
            delete(ssd.resolve(part));
            copy(earlier.resolve(part), ssd.resolve(part));
        }

        private void cutOff() throws IOException {
            for (String part : List.of("map", "segments")) {
                for (Path file : list(ssd.resolve(part))) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.truncate(random.nextLong(channel.size() + 1));
                    }
                }
            }
        }

        @Override
        public FileSystem restart() throws IOException {
            FileSystem restarted = super.restart();
            assertEquals(SsdState.ONLINE, volume.hot().status().state());
            return BeforeCalls.of(restarted, method -> {
                if (method.equals("close") || method.equals("remount")) {
                    hits.addAndGet(volume.hot().status().distributor().ssdHits());
                }
            });
        }
    }

    private static List<Path> list(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder)) {
            found.forEach(files::add);
        }
        // In an order that does not depend on the disk.
        files.sort(Comparator.naturalOrder());
        return files;
    }

    /** Copies a folder that may be in use; files that vanish meanwhile are omitted. */
    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        for (Path file : list(from)) {
            Path target = to.resolve(file.getFileName().toString());
            try {
                if (Files.isDirectory(file)) {
                    copy(file, target);
                } else {
                    Files.copy(file, target);
                }
            } catch (NoSuchFileException e) {
                // Deleted since it was listed.
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
