package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change that a pass of healing makes, and lets each call of the stores fail once. After that no
 * read gives wrong bytes, no sound file loses a byte, and another pass heals everything.
 */
class HealCrashTest extends CrashRun<Volume> {
    private static final int BYTES = 200 << 10;
    /** What is stored again of content of which a part is not: some chunks of the first frame. */
    private static final int PART = 40 << 10;

    private static final int FOOTER_BYTES = 48;
    /** An offset in the first frame's payload: behind its header and its list of at most a few KB. */
    private static final int IN_FIRST_FRAME = 20 << 10;

    private final Map<String, byte[]> contents = new TreeMap<>();
    private CrashDirectory data;
    private CrashKeyValueStore metadata;
    /** What the index keeps when a trial begins; a crash takes no more from it. */
    private ChunkIndex known = new HeapChunkIndex();

    /** Whether a part of the content is stored only after the first pass. */
    private boolean isPartly;
    /** Number of times that the whole content was stored after a pass. */
    private int stored;

    /** What of a container is damaged. */
    enum Damage {
        /** The payload of a frame. */
        FRAME,
        /** The whole directory, and the footer. */
        DIRECTORY,
        /** The payload of a frame, of whose chunks only some are stored again before the pass. */
        FRAME_PARTLY_STORED_AGAIN,
        /** Its pack is missing. */
        NO_PACK,
        /** Its pack is missing, and only a part of its content is stored again before the pass. */
        NO_PACK_PARTLY_STORED_AGAIN,
        /** Its pack ends in the middle of it. */
        CUT_PACK;

        boolean isInPack() {
            return this == FRAME || this == DIRECTORY || this == FRAME_PARTLY_STORED_AGAIN;
        }

        boolean isPartlyStoredAgain() {
            return this == FRAME_PARTLY_STORED_AGAIN || this == NO_PACK_PARTLY_STORED_AGAIN;
        }
    }

    /** Two sound files beside the damaged one, of which one has the same content. */
    private void damage(Damage damage) throws IOException {
        data = new CrashDirectory(seed);
        metadata = new CrashKeyValueStore();
        var config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        SplittableRandom random = new SplittableRandom(seed);
        for (String name : List.of("a", "other")) {
            byte[] bytes = new byte[BYTES];
            random.nextBytes(bytes);
            contents.put(name, bytes);
        }
        StoredContainer[] first = new StoredContainer[1];
        try (Volume volume = open(data, metadata)) {
            GarbageTrial.store(volume, "a", contents.get("a"));
        }
        try (Volume volume = open(data, metadata)) {
            GarbageTrial.store(volume, "other", contents.get("other"));
            if (damage != Damage.DIRECTORY) {
                // With its frame table from there the container could be read.
                keepIndex(volume);
            }
            volume.context().metadata().containers().forEach(entry -> {
                first[0] = first[0] == null ? entry.stored() : first[0];
            });
        }
        String pack = PackFormat.fileName(first[0].pack());
        byte[] bytes = data.contents(pack);
        int at = (int) first[0].offset() + IN_FIRST_FRAME;
        if (damage == Damage.FRAME || damage == Damage.FRAME_PARTLY_STORED_AGAIN) {
            Arrays.fill(bytes, at, at + (8 << 10), (byte) 7);
        } else if (damage == Damage.CUT_PACK) {
            bytes = Arrays.copyOf(bytes, (int) (first[0].offset() + first[0].bytes() / 2));
        } else if (damage == Damage.DIRECTORY) {
            int end = (int) (first[0].offset() + first[0].bytes());
            int directoryBytes =
                    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(end - 8);
            Arrays.fill(bytes, end - FOOTER_BYTES - directoryBytes, end, (byte) 7);
        }
        data.put(pack, bytes);
        if (!damage.isInPack() && damage != Damage.CUT_PACK) {
            data.delete(pack);
        }
        isPartly = damage.isPartlyStoredAgain();
        try (Volume volume = open(data, metadata)) {
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertTrue(volume.maintenance().heal().unhealedChunks() > 0 || !damage.isInPack());
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "a", BYTES), "control: it is damaged");
            contents.put("b", isPartly ? Arrays.copyOf(contents.get("a"), PART) : contents.get("a"));
            GarbageTrial.store(volume, "b", contents.get("b"));
            if (damage != Damage.DIRECTORY) {
                keepIndex(volume);
            }
        }
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    /** Waits until the index has every container, and keeps it for the trials. */
    private void keepIndex(Volume volume) throws IOException {
        volume.context().containers().endAll();
        volume.context().committer().commit();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        ChunkIndex index = volume.context().collector().index();
        List<Long> missing = new ArrayList<>();
        do {
            missing.clear();
            volume.context().containers().forEachContainer(container -> {
                if (index.frameTable(container) == null) {
                    missing.add(container);
                }
                return true;
            });
            Thread.onSpinWait();
        } while (!missing.isEmpty() && System.nanoTime() < end);
        assertEquals(List.of(), missing);
        known = CopiedIndex.of(index);
    }

    private Volume open(Directory directory, KeyValueStore database) throws IOException {
        var config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
        VolumeStores stores = new VolumeStores(directory, database, CopiedIndex.of(known), InstantSource.system());
        return Volume.open(config, stores, Verification.CHECKSUMS);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        return new CutStores(data.crash(crashSeed), metadata.crash(0));
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        return open(stores.data(), stores.metadata());
    }

    @Override
    void run(Volume volume) throws IOException {
        heal(volume);
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        try (Volume volume = open(left)) {
            return problems(volume);
        }
    }

    private static void heal(Volume volume) throws IOException {
        volume.maintenance().heal().run(soFar -> true);
    }

    /** What is wrong, also after another pass; only the damaged file may give errors before. */
    private List<String> problems(Volume volume) throws IOException {
        List<String> problems = new ArrayList<>();
        contents.forEach((name, bytes) -> problems.addAll(problemsOf(volume, name, bytes, name.equals("a"))));
        heal(volume);
        if (isPartly) {
            contents.forEach((name, bytes) -> problems.addAll(problemsOf(volume, name, bytes, name.equals("a"))));
            GarbageTrial.store(volume, "again" + stored++, contents.get("a"));
            heal(volume);
        }
        contents.forEach((name, bytes) -> problems.addAll(problemsOf(volume, name, bytes, false)));
        problems.addAll(VolumeChecker.check(volume));
        if (volume.maintenance().heal().unhealedChunks() > 0) {
            problems.add("chunks are still damaged");
        }
        if (!volume.maintenance()
                .scrub()
                .run((totals, rest, next) -> true)
                .totals()
                .isClean()) {
            problems.add("a scrub found damage");
        }
        return problems;
    }

    private static List<String> problemsOf(Volume volume, String name, byte[] bytes, boolean mayFail) {
        try {
            return Arrays.equals(bytes, GarbageTrial.read(volume, name, bytes.length))
                    ? List.of()
                    : List.of(name + " has other bytes");
        } catch (IOException e) {
            return mayFail ? List.of() : List.of(name + ": " + e);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "FORCE_DOES_NOTHING, FRAME",
        "FORCE_DOES_NOTHING, DIRECTORY",
        "COMMIT_IS_NOT_DURABLE, FRAME",
        "COMMIT_IS_NOT_DURABLE, DIRECTORY"
    })
    void controlABrokenPromiseIsNoticed(Promise promise, Damage damage) throws IOException {
        damage(damage);
        assertIsNoticed(promise);
    }

    @ParameterizedTest
    @EnumSource
    void aCrashAtAnyChangeLosesNothingAndTheNextPassHeals(Damage damage) throws IOException {
        damage(damage);
        assertNoCutLoses(7);
    }

    /** Each call of the stores fails once, reads included. */
    @ParameterizedTest
    @EnumSource
    void aFaultAtAnyCallLosesNothingAndTheNextPassHeals(Damage damage) throws IOException {
        damage(damage);
        assertNoFaultLoses(Fault.EIO, (volume, stores) -> {
            resumeIfStopped(volume);
            return problems(volume);
        });
    }
}
