package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change that an exact pass or an arrangement, and the collection after it, make in the data
 * location or the metadata. After each cut no file has lost a byte, and the same once more leaves each chunk once.
 */
class MovedReferencesCrashTest extends CrashRun<Volume> {
    private static final int CHUNK = 4096;
    private static final int JOINED_FILE = 300 * CHUNK;
    private static final int PIECE = 16 << 10;
    /** So that the old file is large enough to be read alone, and not together with the newest one. */
    private static final int APART = 1200 << 10;

    private static final int PIECES = 8;
    /** A disk on which a seek costs as much as reading 100 kB. */
    private static final DiskModel DISK = DiskModel.configured(1, 100_000_000);

    /** Passes sort in the metadata location. */
    @MemoryFolder
    Path folder;

    private VolumeConfig config;
    private final Map<String, byte[]> contents = new TreeMap<>();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private Mover mover;
    /** What an exact index would have stored. */
    private long uniqueBytes;

    /** What moves references. */
    enum Mover {
        JOIN((280 + 80) * CHUNK) {
            @Override
            long move(Volume volume) throws IOException {
                JoinReport report = volume.maintenance().join().run(JoinLimits.ALL, Progress.NONE);
                return report.joinedBytes();
            }
        },
        ARRANGEMENT(PIECES * PIECE) {
            @Override
            long move(Volume volume) throws IOException {
                ArrangementReport report =
                        volume.maintenance().arrange(new ArrangementLimits(1, 1.1), DISK, Progress.NONE);
                return report.movedBytes();
            }
        };

        final long movedFirst;

        Mover(long movedFirst) {
            this.movedFirst = movedFirst;
        }

        /** Moves all references that can be moved; returns their bytes. */
        abstract long move(Volume volume) throws IOException;
    }

    private void make(Mover chosen) throws IOException {
        mover = chosen;
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.SHA256);
        Files.createDirectories(config.locations().metadata());
        Volume.create(config, data, metadata, InstantSource.system());
        if (chosen == Mover.JOIN) {
            byte[] old = random(JOINED_FILE);
            byte[] changed = old.clone();
            byte[] other = random(20 * CHUNK);
            System.arraycopy(other, 0, changed, 100 * CHUNK, other.length);
            storeUnnoticed("old", old);
            storeUnnoticed("changed", changed);
            storeUnnoticed("part", Arrays.copyOfRange(changed, 50 * CHUNK, 130 * CHUNK));
            uniqueBytes = old.length + other.length;
        } else {
            byte[] old = random(PIECES * APART);
            byte[] newest = random(2 * PIECES * PIECE);
            for (int piece = 0; piece < PIECES; piece++) {
                System.arraycopy(old, piece * APART, newest, 2 * piece * PIECE, PIECE);
            }
            store("old", old, new HeapChunkIndex());
            store("newest", newest, new HeapChunkIndex());
            uniqueBytes = old.length + PIECES * PIECE;
        }
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    private byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        return made;
    }

    /** Stores a file as if no chunk of it were stored. */
    private void storeUnnoticed(String name, byte[] bytes) throws IOException {
        ForgetfulIndex forgetful = new ForgetfulIndex();
        forgetful.setForgets(true);
        store(name, bytes, forgetful.of(new HeapChunkIndex()));
    }

    /** Stores a file in a mount of its own. */
    private void store(String name, byte[] bytes, ChunkIndex index) throws IOException {
        VolumeStores stores = new VolumeStores(data, metadata, index, InstantSource.system());
        try (Volume volume = Volume.open(config, stores, Verification.FINGERPRINTS)) {
            GarbageTrial.store(volume, name, bytes);
        }
        contents.put(name, bytes);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        return new CutStores(data.crash(crashSeed), metadata.crash(0));
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        VolumeStores opened =
                new VolumeStores(stores.data(), stores.metadata(), new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, opened, Verification.FINGERPRINTS);
    }

    @Override
    void run(Volume volume) throws IOException {
        assertEquals(mover.movedFirst, mover.move(volume));
        GarbageTrial.collect(volume, 0);
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        try (Volume found = open(left)) {
            List<String> problems = GarbageTrial.problems(found, contents);
            mover.move(found);
            GarbageTrial.collect(found, 0);
            problems.addAll(GarbageTrial.problems(found, contents));
            VolumeStatistics now = found.statistics();
            if (now.uniqueBytes() != uniqueBytes || now.garbageBytes() != 0) {
                problems.add("copies were left: " + now);
            }
            return problems;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCrashAtAnyChangeLosesNothing(Mover chosen) throws IOException {
        make(chosen);
        assertNoCutLoses(10);
    }

    /** New copies are not durable when the old places are given back, or recipes do not refer to them durably. */
    @ParameterizedTest
    @CsvSource({
        "JOIN, FORCE_DOES_NOTHING",
        "JOIN, COMMIT_IS_NOT_DURABLE",
        "ARRANGEMENT, FORCE_DOES_NOTHING",
        "ARRANGEMENT, COMMIT_IS_NOT_DURABLE"
    })
    void controlABrokenPromiseIsNoticed(Mover chosen, Promise promise) throws IOException {
        make(chosen);
        assertIsNoticed(promise);
    }
}
