package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.chunks.ChunkVolume;

/**
 * Cuts the power at each change that a pass of healing makes in a volume of chunks. After that no read gives wrong
 * bytes, no count is another one, no sound chunk is lost, and another pass heals everything.
 */
@Timeout(300)
class ChunkHealCrashTest {
    private static final int NEVER = Integer.MAX_VALUE;
    private static final long CHUNKS = 90;
    private static final long OTHERS = 1000;
    /** An offset in the first frame's payload: behind its header and its list of at most a few KB. */
    private static final int IN_FIRST_FRAME = 20 << 10;

    private static final int DAMAGED_BYTES = 8 << 10;
    /** How often a control cuts the power at each change. */
    private static final int CONTROL_ROUNDS = 8;

    private final long seed = TestSeed.next();
    /** Where each chunk was put first. */
    private final Map<Long, Long> locations = new TreeMap<>();
    /** References by location, as the client counts them. */
    private final Map<Long, Integer> references = new HashMap<>();

    private ChunkTrial made;

    /** Whether the stores keep their promises while a pass runs; each control breaks one. */
    private enum Promise {
        KEPT,
        /** Bytes and names that the pass writes are not made durable. */
        FORCE_DOES_NOTHING,
        /** The old places are given back before the new ones are committed. */
        COMMIT_IS_NOT_DURABLE
    }

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

    /** One pass, with a power cut during it. */
    private final class Trial {
        private final Promise promise;
        private final int at;
        private final boolean inTheMiddle;
        private final long crashSeed;
        private final ChunkTrial stores;
        final List<String> changes = Collections.synchronizedList(new ArrayList<>());
        private @Nullable CrashDirectory left;
        private @Nullable CrashKeyValueStore leftMetadata;
        private boolean off;
        private boolean healing;

        Trial(Promise promise, int at, boolean inTheMiddle, long crashSeed) throws IOException {
            this.promise = promise;
            this.at = at;
            this.inTheMiddle = inTheMiddle;
            this.crashSeed = crashSeed;
            stores = new ChunkTrial(made.data.crash(crashSeed), made.metadata.crash(0));
            stores.hooks.hook = this::around;
        }

        Trial run() throws IOException {
            ChunkVolume volume = stores.open();
            volume.maintenance().heal().setDelays(ChunkFolder.NEVER_MS, ChunkFolder.NEVER_MS);
            healing = true;
            stores.metadata.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
            try {
                heal(volume);
            } catch (IOException e) {
                if (!off) {
                    throw e;
                }
            }
            synchronized (this) {
                off |= at != NEVER;
                healing = false;
                if (left == null) {
                    left = stores.data.crash(crashSeed);
                }
                leftMetadata = stores.metadata.crash(crashSeed);
            }
            try {
                volume.close();
            } catch (IOException e) {
                // Expected, because its stores are gone.
            }
            return this;
        }

        List<String> problemsLeft() {
            try (ChunkVolume volume = new ChunkTrial(left, leftMetadata).open()) {
                volume.maintenance().heal().setDelays(ChunkFolder.NEVER_MS, ChunkFolder.NEVER_MS);
                return problems(volume);
            } catch (IOException | RuntimeException | AssertionError e) {
                return List.of("after the crash: " + e);
            }
        }

        private synchronized Object around(Call call) throws IOException {
            if (off) {
                throw new IOException("the power is off");
            }
            if (!healing || !call.isChange()) {
                return call.proceed();
            }
            changes.add(call.toString());
            if (changes.size() > at) {
                off = true;
                if (inTheMiddle) {
                    call.proceedInPart(stores.data, stores.metadata, () -> left = stores.data.crash(crashSeed));
                }
                throw new IOException("the power is cut");
            }
            boolean isForce = call.what().equals("force") || call.what().equals("sync");
            return promise == Promise.FORCE_DOES_NOTHING && isForce ? null : call.proceed();
        }
    }

    @Test
    void aCrashAtAnyChangeLosesNothingAndTheNextPassHeals() throws IOException {
        List<String> all = new Trial(Promise.KEPT, NEVER, false, seed).run().changes;
        for (int at = 0; at <= all.size(); at++) {
            for (boolean inTheMiddle : new boolean[] {false, true}) {
                String when = (inTheMiddle ? "in the middle of change " : "before change ") + at + " of ";
                Trial tried = new Trial(Promise.KEPT, at, inTheMiddle, seed + at).run();
                assertEquals(List.of(), tried.problemsLeft(), () -> when + tried.changes);
            }
        }
        assertTrue(all.size() > 6, all::toString);
    }

    @ParameterizedTest
    @EnumSource(
            value = Promise.class,
            names = {"FORCE_DOES_NOTHING", "COMMIT_IS_NOT_DURABLE"})
    void controlABrokenPromiseIsNoticed(Promise promise) throws IOException {
        int changes = new Trial(Promise.KEPT, NEVER, false, seed).run().changes.size();
        boolean noticed = false;
        // A crash may keep by chance what was not made durable.
        for (int trial = 0; trial < CONTROL_ROUNDS * changes && !noticed; trial++) {
            try {
                noticed = !new Trial(promise, changes - trial % changes, false, seed + trial)
                        .run()
                        .problemsLeft()
                        .isEmpty();
            } catch (IOException torn) {
                noticed = true;
            }
        }
        assertTrue(noticed, () -> promise + " is not noticed");
    }
}
