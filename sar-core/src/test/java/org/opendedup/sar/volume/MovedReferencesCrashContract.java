package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change that something which moves references, and the collection after it, make in the data
 * location or the metadata. After each cut no file has lost a byte, and the same once more leaves each chunk once.
 */
@Timeout(300)
abstract class MovedReferencesCrashContract {
    private static final int NEVER = Integer.MAX_VALUE;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private VolumeConfig config;
    private final Map<String, byte[]> contents = new TreeMap<>();
    private CrashDirectory data;
    private CrashKeyValueStore metadata;
    /** What an exact index would have stored. Set by {@link #store}. */
    long uniqueBytes;

    /** Whether the stores keep their promises; the controls break one each. */
    enum Promise {
        KEPT,
        /** New copies are not durable when recipes refer to them, or when the places of the old ones are returned. */
        FORCE_DOES_NOTHING,
        /** Recipes are not made durable before the collection returns the places of the old copies. */
        COMMIT_IS_NOT_DURABLE
    }

    /** Stores the files, with references that can be moved. */
    abstract void store(SplittableRandom random) throws IOException;

    /** Moves all references that can be moved. */
    abstract void move(Volume volume) throws IOException;

    /** Moves references for the first time, and verifies that all are moved. */
    abstract void moveAll(Volume volume) throws IOException;

    @BeforeEach
    void create() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.SHA256);
        Files.createDirectories(config.locations().metadata());
        data = new CrashDirectory(seed);
        metadata = new CrashKeyValueStore();
        Volume.create(config, data, metadata, InstantSource.system());
        store(new SplittableRandom(seed));
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    /** Stores a file in a mount of its own. */
    void store(String name, byte[] bytes, ChunkIndex index) throws IOException {
        VolumeStores stores = new VolumeStores(data, metadata, index, InstantSource.system());
        try (Volume volume = Volume.open(config, stores, Verification.FINGERPRINTS)) {
            GarbageTrial.store(volume, name, bytes);
        }
        contents.put(name, bytes);
    }

    private Volume open(Directory directory, KeyValueStore database) throws IOException {
        VolumeStores stores = new VolumeStores(directory, database, ChunkIndexes.heap(), InstantSource.system());
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    /** One move, a collection, and a power cut during them. */
    private final class Cut {
        private final CrashDirectory dataUsed;
        private CrashKeyValueStore metadataUsed;
        private final Promise promise;
        /** Number of the change at which the power is cut. */
        private final int at;

        private final boolean inTheMiddle;
        private final long crashSeed;
        final List<String> changes = Collections.synchronizedList(new ArrayList<>());
        private boolean off;
        private boolean working;

        Cut(Promise promise, int at, boolean inTheMiddle, long crashSeed) throws IOException {
            this.promise = promise;
            this.at = at;
            this.inTheMiddle = inTheMiddle;
            this.crashSeed = crashSeed;
            dataUsed = data.crash(crashSeed);
            metadataUsed = metadata.crash(0);
        }

        /** Returns what is wrong after the power came back. */
        List<String> problems() throws IOException {
            HookedStores stores = new HookedStores();
            stores.hook = this::around;
            Volume volume = open(stores.hooked(dataUsed), stores.hooked(metadataUsed));
            working = true;
            metadataUsed.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
            try {
                moveAll(volume);
                GarbageTrial.collect(volume, 0);
            } catch (IOException e) {
                if (!off) {
                    throw e;
                }
            }
            CrashDirectory dataLeft;
            synchronized (this) {
                off = true;
                dataLeft = dataUsed.crash(crashSeed);
                metadataUsed = metadataUsed.crash(crashSeed);
            }
            VolumeInMemory.abandon(volume);
            try (Volume found = open(dataLeft, metadataUsed)) {
                List<String> problems = problems(found);
                move(found);
                GarbageTrial.collect(found, 0);
                problems.addAll(problems(found));
                VolumeStatistics now = found.statistics();
                if (now.uniqueBytes() != uniqueBytes || now.garbageBytes() != 0) {
                    problems.add("copies were left: " + now);
                }
                return problems;
            }
        }

        private List<String> problems(Volume volume) throws IOException {
            List<String> problems = new ArrayList<>(VolumeChecker.check(volume));
            for (Map.Entry<String, byte[]> file : contents.entrySet()) {
                byte[] bytes = file.getValue();
                if (!Arrays.equals(bytes, GarbageTrial.read(volume, file.getKey(), bytes.length))) {
                    problems.add(file.getKey() + " has other bytes");
                }
            }
            return problems;
        }

        private synchronized Object around(Call call) throws IOException {
            if (off) {
                throw new IOException("the power is off");
            }
            if (!working || !call.isChange()) {
                return call.proceed();
            }
            changes.add(call.toString());
            if (changes.size() > at) {
                off = true;
                if (inTheMiddle && !call.what().equals("force") && !call.what().equals("sync")) {
                    leaveInTheMiddle(call);
                }
                throw new IOException("the power is cut");
            }
            boolean isForce = call.what().equals("force") || call.what().equals("sync");
            return promise == Promise.FORCE_DOES_NOTHING && isForce ? null : call.proceed();
        }

        private void leaveInTheMiddle(Call call) throws IOException {
            if (call.what().equals("commit")) {
                metadataUsed.failNextCommits(1);
                try {
                    call.proceed();
                } catch (IOException expected) {
                    return;
                }
                throw new AssertionError("a commit that should fail succeeded");
            }
            call.proceed();
        }
    }

    @Test
    void aCrashAtAnyChangeLosesNothing() throws IOException {
        Cut whole = new Cut(Promise.KEPT, NEVER, false, seed);
        assertEquals(List.of(), whole.problems());
        int changes = whole.changes.size();
        for (int at = 0; at <= changes; at++) {
            for (boolean inTheMiddle : new boolean[] {false, true}) {
                String when = (inTheMiddle ? "in the middle of change " : "before change ") + at + " of " + changes;
                assertEquals(List.of(), new Cut(Promise.KEPT, at, inTheMiddle, seed + at).problems(), when);
            }
        }
        assertTrue(changes > 10, () -> "it was done after " + whole.changes);
    }

    @ParameterizedTest
    @EnumSource(
            value = Promise.class,
            names = {"KEPT"},
            mode = EnumSource.Mode.EXCLUDE)
    void controlABrokenPromiseIsNoticed(Promise promise) throws IOException {
        Cut whole = new Cut(Promise.KEPT, NEVER, false, seed);
        whole.problems();
        boolean noticed = false;
        for (int at = whole.changes.size(); at > 0 && !noticed; at--) {
            noticed = isNoticed(promise, at);
        }
        assertTrue(noticed, () -> promise + " is not noticed");
    }

    private boolean isNoticed(Promise promise, int at) {
        try {
            return !new Cut(promise, at, false, seed + at).problems().isEmpty();
        } catch (IOException | RuntimeException e) {
            return true;
        }
    }
}
