package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.VolumeConfigs;

/**
 * Cuts the power at each change that a collection makes in the data location or the metadata: before the change, and in
 * the middle of it. After each cut no file has lost a byte, and another collection gives everything back.
 */
@Timeout(300)
class CollectionCrashTest {
    private static final int NEVER = Integer.MAX_VALUE;

    private final long seed = TestSeed.next();
    private GarbageTrial trial;
    /** Whether the file system of the data location gives back parts of files. */
    private boolean freesRanges = true;

    /** Whether the stores keep their promises while a collection runs; each control breaks one. */
    enum Promise {
        KEPT,
        /** Bytes and names that the collector writes are not made durable. */
        FORCE_DOES_NOTHING,
        /** The old places are given back before the new ones are committed. */
        COMMIT_IS_NOT_DURABLE,
        /** The new places are committed before the tombstones. */
        TOMBSTONES_COME_LATER
    }

    /** @param level zstd level with which collections compress anew; 0 for none */
    private void makeGarbage(int level) throws IOException {
        trial = new GarbageTrial(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256), seed, level);
    }

    /** One collection, and a power cut during it. */
    private final class Cut {
        private final CrashDirectory data;
        private CrashKeyValueStore metadata;
        private final Promise promise;
        /** Number of the change at which the power is cut. */
        private final int at;
        /** Whether the change is under way at the cut, and not only about to be made. */
        private final boolean inTheMiddle;

        private final long crashSeed;
        /** The changes that were made, and the one at which the power was cut. */
        final List<String> changes = Collections.synchronizedList(new ArrayList<>());

        private CrashDirectory dataLeft;
        private boolean off;
        private boolean collecting;
        private final Set<Long> copied = new HashSet<>();

        Cut(Promise promise, int at, boolean inTheMiddle, long crashSeed) throws IOException {
            this.promise = promise;
            this.at = at;
            this.inTheMiddle = inTheMiddle;
            this.crashSeed = crashSeed;
            data = trial.data(crashSeed);
            if (!freesRanges) {
                data.refuseReleases();
            }
            metadata = trial.metadata();
        }

        /** Collects until the power is cut. */
        Cut run() throws IOException {
            HookedStores stores = new HookedStores();
            stores.hook = this::around;
            Volume volume = trial.open(stores.hooked(data), stores.hooked(metadata));
            volume.context().metadata().containers().forEach(entry -> {
                if (entry.liveBytes() > 0) {
                    copied.add(entry.container());
                }
            });
            collecting = true;
            metadata.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
            try {
                trial.collect(volume);
            } catch (IOException e) {
                if (!off) {
                    throw e;
                }
            }
            synchronized (this) {
                off |= at != NEVER;
                collecting = false;
                if (dataLeft == null) {
                    dataLeft = data.crash(crashSeed);
                }
                metadata = metadata.crash(crashSeed);
            }
            VolumeInMemory.abandon(volume);
            return this;
        }

        List<String> problems() {
            try {
                return trial.problemsFrom(dataLeft, metadata, crashSeed);
            } catch (IOException | RuntimeException | AssertionError e) {
                return List.of("after the crash: " + e);
            }
        }

        private synchronized Object around(Call call) throws IOException {
            if (off) {
                throw new IOException("the power is off");
            }
            if (!collecting || !call.isChange()) {
                return isLateTombstone(call) ? null : call.proceed();
            }
            changes.add(call.toString());
            if (changes.size() > at) {
                off = true;
                if (inTheMiddle) {
                    call.proceedInPart(data, metadata, () -> dataLeft = data.crash(crashSeed));
                }
                throw new IOException("the power is cut");
            }
            boolean isForce = call.what().equals("force") || call.what().equals("sync");
            return promise == Promise.FORCE_DOES_NOTHING && isForce ? null : call.proceed();
        }

        /** Only of containers that are copied: the metadata refuse to remove a container that has chunks. */
        private boolean isLateTombstone(Call call) {
            return promise == Promise.TOMBSTONES_COME_LATER
                    && collecting
                    && call.what().equals("put")
                    && call.arguments()[0] == Family.COUNT
                    && copied.contains(
                            ByteBuffer.wrap((byte[]) call.arguments()[1]).getLong());
        }
    }

    /** The check notices each broken promise after a crash at the end of a collection, or somewhere before. */
    @ParameterizedTest
    @CsvSource({
        "0, FORCE_DOES_NOTHING",
        "0, COMMIT_IS_NOT_DURABLE",
        "0, TOMBSTONES_COME_LATER",
        "19, FORCE_DOES_NOTHING",
        "19, COMMIT_IS_NOT_DURABLE",
        "19, TOMBSTONES_COME_LATER"
    })
    void controlABrokenPromiseIsNoticed(int level, Promise promise) throws IOException {
        makeGarbage(level);
        int changes = new Cut(Promise.KEPT, NEVER, false, seed).run().changes.size();
        boolean noticed = false;
        for (int at = changes; at > 0 && !noticed; at--) {
            try {
                noticed =
                        !new Cut(promise, at, false, seed + at).run().problems().isEmpty();
            } catch (CorruptionException refused) {
                // The database is refused: that is not what is looked for.
            }
        }
        assertTrue(noticed, () -> promise + " is not noticed");
    }

    /** Whole packs are deleted then, instead of ranges being released. */
    @ParameterizedTest
    @EnumSource(
            value = Promise.class,
            names = {"KEPT"},
            mode = EnumSource.Mode.EXCLUDE)
    void controlABrokenPromiseIsNoticedWhereNoRangeCanBeReleased(Promise promise) throws IOException {
        freesRanges = false;
        controlABrokenPromiseIsNoticed(0, promise);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 19})
    void aCrashAtAnyChangeLosesNothing(int level) throws IOException {
        makeGarbage(level);
        int changes = new Cut(Promise.KEPT, NEVER, false, seed).run().changes.size();
        for (int at = 0; at <= changes; at++) {
            for (boolean inTheMiddle : new boolean[] {false, true}) {
                String when = (inTheMiddle ? "in the middle of change " : "before change ") + at + " of ";
                Cut tried = new Cut(Promise.KEPT, at, inTheMiddle, seed + at).run();
                assertEquals(List.of(), tried.problems(), () -> when + tried.changes);
            }
        }
        assertTrue(changes > 20, "it was done after " + changes + " changes");
    }

    @Test
    void aCrashAtAnyChangeLosesNothingWhereNoRangeCanBeReleased() throws IOException {
        freesRanges = false;
        aCrashAtAnyChangeLosesNothing(0);
    }

    /** So the cuts are also between any two of these, and in the middle of each. */
    @ParameterizedTest
    @ValueSource(ints = {0, 19})
    void theChangesAreMadeInThisOrder(int level) throws IOException {
        makeGarbage(level);
        List<String> changes = new Cut(Promise.KEPT, NEVER, false, seed)
                .run().changes.stream()
                        .map(change -> change.split(" ")[1])
                        .filter(change -> !change.equals("append") && !change.equals("trim"))
                        .toList();
        StringBuilder order = new StringBuilder();
        for (String change : changes) {
            if (!order.toString().endsWith(change + " ")) {
                order.append(change).append(' ');
            }
        }
        // Tombstones; copies; their places, and records that go; old places; strays. Each commit forces names first.
        String expected =
                "(sync )?(commit (sync )?)+create force sync (delete )?commit release (sync )?delete (release )?sync ";
        if (level > 0) {
            // The same once more, in the pack that is there, for what is only compressed anew.
            expected =
                    expected.replaceFirst(" release", " release (sync )?(commit (sync )?)*force sync commit release");
        }
        String wanted = expected;
        assertTrue(order.toString().matches(wanted), () -> order + " is not " + wanted);
    }
}
