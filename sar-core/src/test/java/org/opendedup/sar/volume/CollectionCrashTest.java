package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.VolumeConfigs;

/**
 * Cuts the power at each change that a collection makes in the data location or the metadata, and lets each of its
 * calls fail. No file loses a byte, the volume goes on, at the latest after {@code resume}, and the next collection
 * gives everything back.
 */
class CollectionCrashTest extends CrashRun<Volume> {
    private GarbageTrial trial;
    /** Whether the file system of the data location gives back parts of files; otherwise only whole packs come back. */
    private boolean freesRanges = true;
    /** The new places are committed before the tombstones. */
    private boolean tombstonesComeLater;

    private final SealedFrames frames = new SealedFrames();

    private final Set<Long> copied = new HashSet<>();

    /** @param level zstd level with which collections compress anew; 0 for none */
    private void makeGarbage(int level) throws IOException {
        trial = new GarbageTrial(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256), seed, level);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        CrashDirectory data = trial.data(crashSeed);
        if (!freesRanges) {
            data.refuseReleases();
        }
        CutStores stores = new CutStores(data, trial.metadata());
        stores.omit(call -> tombstonesComeLater && isTombstone(call));
        return stores;
    }

    /** Only of containers that are copied: the metadata refuse to remove a container that has chunks. */
    private boolean isTombstone(Call call) {
        return call.what().equals("put")
                && call.arguments()[0] == Family.COUNT
                && copied.contains(ByteBuffer.wrap((byte[]) call.arguments()[1]).getLong());
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        Volume volume = trial.open(stores.data(), stores.metadata());
        copied.clear();
        volume.context().metadata().containers().forEach(entry -> {
            if (entry.liveBytes() > 0) {
                copied.add(entry.container());
            }
        });
        return volume;
    }

    @Override
    void run(Volume volume) throws IOException {
        trial.collect(volume);
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        frames.look(left.data);
        List<String> problems = trial.problemsFrom(left.data, left.metadata, seed);
        frames.look(left.data);
        return problems;
    }

    @ParameterizedTest
    @CsvSource({
        "0, true, FORCE_DOES_NOTHING",
        "0, true, COMMIT_IS_NOT_DURABLE",
        "0, false, FORCE_DOES_NOTHING",
        "0, false, COMMIT_IS_NOT_DURABLE",
        "9, true, FORCE_DOES_NOTHING",
        "9, true, COMMIT_IS_NOT_DURABLE",
    })
    void controlABrokenPromiseIsNoticed(int level, boolean releases, Promise promise) throws IOException {
        freesRanges = releases;
        makeGarbage(level);
        assertIsNoticed(promise);
    }

    @ParameterizedTest
    @CsvSource({"0, true", "0, false", "9, true"})
    void controlTombstonesThatComeLaterAreNoticed(int level, boolean releases) throws IOException {
        freesRanges = releases;
        makeGarbage(level);
        int changes = changes().size();
        tombstonesComeLater = true;
        assertIsNoticed(Promise.KEPT, changes);
    }

    @ParameterizedTest
    @CsvSource({"0, true", "0, false", "9, true"})
    void aCrashAtAnyChangeLosesNothing(int level, boolean releases) throws IOException {
        freesRanges = releases;
        makeGarbage(level);
        assertNoCutLoses(20);
    }

    @ParameterizedTest
    @CsvSource({"0, EIO", "0, ENOSPC", "9, EIO", "9, ENOSPC"})
    void aFaultAtAnyCallLosesNothing(int level, Fault fault) throws IOException {
        makeGarbage(level);
        assertNoFaultLoses(fault, this::problemsInUse);
    }

    /** A commit may stop the volume; what fails for the collector alone must not. */
    private List<String> problemsInUse(Volume volume, CutStores stores) throws IOException {
        List<String> problems = new ArrayList<>();
        String stopped = volume.context().committer().stopped();
        if (stopped != null) {
            if (!stores.failed().isOfMetadata() && !stores.failed().what().equals("sync")) {
                problems.add("the volume stopped: " + stopped);
            }
            volume.context().committer().resume();
        }
        problems.addAll(trial.problems(volume));
        byte[] more = trial.random(100_000);
        volume.sync();
        GarbageTrial.store(volume, "later", more);
        assertArrayEquals(more, GarbageTrial.read(volume, "later", more.length));
        trial.collect(volume);
        problems.addAll(trial.problems(volume));
        return problems;
    }

    /** So the cuts are also between any two of these, and in the middle of each. */
    @ParameterizedTest
    @ValueSource(ints = {0, 9})
    void theChangesAreMadeInThisOrder(int level) throws IOException {
        makeGarbage(level);
        StringBuilder order = new StringBuilder();
        for (String each : changes()) {
            String change = each.split(" ")[1] + " ";
            if (!change.equals("append ")
                    && !change.equals("trim ")
                    && !order.toString().endsWith(change)) {
                order.append(change);
            }
        }
        // Tombstones; copies; their places, and records that go; old places; strays. Each commit forces names first.
        String wanted =
                "(sync )?(commit (sync )?)+create force sync (delete )?commit release (sync )?delete (release )?sync ";
        if (level > 0) {
            // The same once more, in the pack that is there, for what is only compressed anew.
            wanted = wanted.replaceFirst(" release", " release (sync )?(commit (sync )?)*force sync commit release");
        }
        assertTrue(order.toString().matches(wanted), order + " is not " + wanted);
    }

    /**
     * Two frames that were sealed under the same key and number would show both. Each cut collection seals the next
     * generation of the same containers again, so only the random key salt tells its frames apart: the control counts
     * those.
     */
    @Test
    void noKeyAndNumberSealOtherBytesTwice() throws IOException {
        trial = new GarbageTrial(
                VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256)
                        .withKeys(TestKeys.of(1)),
                seed,
                9);
        assertNoCutLoses(20);

        assertTrue(frames.count() > 100, () -> frames.count() + " frames");
        assertEquals(0, frames.repeated());
        assertTrue(frames.madeAgain() > frames.count() / 2, () -> frames.madeAgain() + " were made again");
    }
}
