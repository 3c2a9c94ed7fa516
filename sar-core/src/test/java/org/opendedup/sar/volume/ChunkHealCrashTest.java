package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.chunks.ChunkVolume;

/**
 * Cuts the power at each change that a pass of healing makes in a volume of chunks. After that no read gives wrong
 * bytes, no count is another one, no sound chunk is lost, and another pass heals everything.
 */
class ChunkHealCrashTest extends CrashRun<ChunkVolume> {
    private static final long CHUNKS = 90;
    private static final long OTHERS = 1000;
    /** An offset in the first frame's payload: behind its header and its list of at most a few KB. */
    private static final int IN_FIRST_FRAME = 20 << 10;

    private static final int DAMAGED_BYTES = 8 << 10;
    /** Where each chunk was put first. */
    private final Map<Long, Long> locations = new TreeMap<>();
    /** References by location, as the client counts them. */
    private final Map<Long, Integer> references = new HashMap<>();

    private ChunkTrial made;

    /** A container with a damaged frame, whose content was put again; the other chunks of it are nowhere else. */
    @BeforeEach
    void damage() throws IOException {
        made = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = made.open()) {
            put(volume, 0, CHUNKS);
        }
        StoredContainer[] first = new StoredContainer[1];
        try (ChunkVolume volume = made.open()) {
            put(volume, OTHERS, OTHERS + CHUNKS);
            first[0] = volume.engine().metadata().containers().get(locations.get(0L) >>> 16);
        }
        String pack = PackFormat.fileName(first[0].pack());
        byte[] bytes = made.data.contents(pack);
        int at = (int) first[0].offset() + IN_FIRST_FRAME;
        Arrays.fill(bytes, at, at + DAMAGED_BYTES, (byte) 7);
        made.data.put(pack, bytes);
        try (ChunkVolume volume = made.open()) {
            volume.maintenance().heal().setDelays(ChunkFolder.NEVER_MS, ChunkFolder.NEVER_MS);
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertTrue(volume.maintenance().heal().unhealedChunks() > 0);
            assertThrows(IOException.class, () -> get(volume, 0), "control: it is damaged");
            put(volume, 0, CHUNKS);
            assertTrue(volume.maintenance().heal().unhealedChunks() > 0, "control: it is not healed yet");
        }
        // It remembers its batches, so that copies can be made of it any number of times.
        made.metadata.crash(seed);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        return new CutStores(made.data.crash(crashSeed), made.metadata.crash(0));
    }

    @Override
    ChunkVolume open(CutStores stores) throws IOException {
        ChunkVolume volume = ChunkTrial.open(stores.data(), stores.metadata());
        volume.maintenance().heal().setDelays(ChunkFolder.NEVER_MS, ChunkFolder.NEVER_MS);
        return volume;
    }

    @Override
    void run(ChunkVolume volume) throws IOException {
        heal(volume);
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        try (ChunkVolume volume = open(left)) {
            return problems(volume);
        }
    }

    private void put(ChunkVolume volume, long from, long to) throws IOException {
        for (long number = from; number < to; number++) {
            byte[] chunk = ChunkTrial.chunk(number);
            long location = volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, 1)
                    .location();
            locations.putIfAbsent(number, location);
            references.merge(location, 1, Integer::sum);
        }
        volume.sync();
    }

    private byte @Nullable [] get(ChunkVolume volume, long number) throws IOException {
        return volume.get(ChunkTrial.fingerprint(ChunkTrial.chunk(number)), locations.get(number));
    }

    private static void heal(ChunkVolume volume) throws IOException {
        volume.maintenance().heal().run(soFar -> true);
    }

    /** What is wrong, also after another pass. */
    private List<String> problems(ChunkVolume volume) throws IOException {
        List<String> problems = new ArrayList<>(wrongChunks(volume));
        heal(volume);
        problems.addAll(wrongChunks(volume));
        for (Map.Entry<Long, Integer> counted : references.entrySet()) {
            if (volume.references(counted.getKey()) != counted.getValue()) {
                problems.add("location " + counted.getKey() + " has other references");
            }
        }
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

    /** Each content is somewhere, so that no read may fail. */
    private List<String> wrongChunks(ChunkVolume volume) {
        List<String> wrong = new ArrayList<>();
        for (long number : locations.keySet()) {
            try {
                if (!Arrays.equals(ChunkTrial.chunk(number), get(volume, number))) {
                    wrong.add("chunk " + number + " has other bytes");
                }
            } catch (IOException e) {
                wrong.add("chunk " + number + ": " + e);
            }
        }
        return wrong;
    }

    @Test
    void aCrashAtAnyChangeLosesNothingAndTheNextPassHeals() throws IOException {
        assertNoCutLoses(7);
    }

    @ParameterizedTest
    @EnumSource(
            value = Promise.class,
            names = {"FORCE_DOES_NOTHING", "COMMIT_IS_NOT_DURABLE"})
    void controlABrokenPromiseIsNoticed(Promise promise) throws IOException {
        assertIsNoticed(promise);
    }
}
