package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Takes raw files through every step of their lives, and cuts the power before and in each change that the volume makes
 * to its stores or to the fast tier. {@link FileHistory} says what may be found.
 */
class RawCrashTest extends CrashRun<Volume> {
    /** What the check and the volume say of lost bytes. */
    private static final List<String> LOSSES =
            List.of("were only on the fast tier, which does not have them any more", ", possible: ");

    private FileHistory files;
    private boolean forceOfRawFilesDoesNothing;
    /** Backing files vanish as soon as a commit begins. */
    private boolean deletesEarly;
    /** Files without a record may be left until the mount after the next one. */
    private boolean straysMayStay;

    private static VolumeConfig config() {
        return RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    }

    /** Every step of a raw file's life. */
    private static void script(FileHistory files, Random random) throws IOException {
        for (String name : List.of("a", "b", "c")) {
            files.make(name);
            files.append(name, bytes(random, 5_000));
        }
        files.sync("a");
        files.sync("b");
        files.write("a", 1_000, bytes(random, 2_500));
        files.copy("a");
        files.write("a", 100, bytes(random, 700));
        files.sync("a");
        files.migrate("a");
        files.append("a", bytes(random, 300));
        files.sync("a");
        files.truncate("a", 0);
        files.sync("a");
        files.append("a", bytes(random, 1_500));
        files.make("d");
        files.sync("d");
        files.sync("a");
        files.migrate("a");
        files.giveBack();
        files.truncate("a", 0);
        files.sync("a");
        files.append("a", bytes(random, 600));
        files.sync("d");
        files.truncate("b", 1_700);
        files.punch("c", 512, 1_024);
        files.syncAll();
        files.make("new");
        files.append("new", bytes(random, 2_000));
        files.rename("new", "b");
        files.append("b", bytes(random, 1_200));
        files.append("c", bytes(random, 900));
        files.exchange("b", "c");
        files.sync("c");
        files.remove("c");
        files.make("c");
        files.append("c", bytes(random, 4_000));
        files.sync("c");
        files.copy("c");
        files.write("c", 2_000, bytes(random, 600));
        files.truncate("c", 3_000);
        files.store();
        files.copy("c");
        files.migrate("c");
        files.remove("a");
        files.make("e");
        files.append("e", bytes(random, 1_000));
        files.migrate("e");
        files.append("d", bytes(random, 100));
        files.copy("d");
        files.syncAll();
        files.truncate("b", 10);
        files.store();
        files.giveBack();
    }

    private static byte[] bytes(Random random, int count) {
        byte[] made = new byte[count];
        random.nextBytes(made);
        return made;
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        files = FileHistory.ofRawFiles();
        CutStores made = new CutStores(
                new CrashDirectory(seed),
                new CrashKeyValueStore(),
                new CrashRawFolder(seed, forceOfRawFilesDoesNothing));
        Volume.create(config(), made.data, made.metadata, InstantSource.system());
        made.omit(call -> {
            if (deletesEarly && call.what().equals("commit")) {
                made.raw.wipe();
            }
            return false;
        });
        return made;
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        stores.begin();
        VolumeStores opened = new VolumeStores(
                        stores.data(), stores.metadata(), new HeapChunkIndex(), InstantSource.system())
                .withRaw(volume -> stores.raw());
        return Volume.open(config(), opened, Verification.FINGERPRINTS);
    }

    @Override
    void run(Volume volume) throws IOException {
        files.use(volume);
        script(files, new Random(seed));
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        List<String> problems = new ArrayList<>();
        try (Volume found = open(left)) {
            files.use(found);
            long records = found.fastTier().status().files();
            if (!straysMayStay && left.raw.numbers().size() > records) {
                problems.add(left.raw.numbers() + " are more than the " + records + " raw files");
            }
            problems.addAll(files.problemsAfterCrash());
            problems.addAll(VolumeChecker.check(found));
            files.migrateAll();
            problems.addAll(files.problems());
            problems.addAll(VolumeChecker.check(found));
        } catch (IOException e) {
            // A control looks for a loss that was found before.
            problems.add("after the crash: " + e);
            return problems;
        }
        try (Volume again = open(left)) {
            files.use(again);
            problems.addAll(files.problems());
            if (!left.raw.numbers().isEmpty()) {
                problems.add("backing files are left: " + left.raw.numbers());
            }
        }
        return problems;
    }

    /** A control accepts no other problem than synced bytes that are lost. */
    @Override
    boolean isLoss(List<String> problems) {
        return LOSSES.stream().anyMatch(problems.toString()::contains);
    }

    @Test
    void aCrashAtAnyChangeLeavesWhatWasSynced() throws IOException {
        assertNoCutLoses(80);
    }

    /**
     * Cuts the power at a change, and once more at changes of the mount that follows. Returns what is wrong, for each
     * first change.
     */
    private List<List<String>> problemsAfterTwoCuts() throws IOException {
        // A cut between the epoch of the metadata and that of the containers looks like another history.
        straysMayStay = true;
        List<List<String>> all = new ArrayList<>();
        for (int step : TestSeed.steps(2 * changes().size()).toArray()) {
            int at = step / 2;
            boolean inTheMiddle = step % 2 > 0;
            CutStores whole = cut(stores(seed + at), at, inTheMiddle, seed + at);
            mount(whole);
            List<String> problems = new ArrayList<>();
            for (int next : TestSeed.steps(whole.changes.size(), 2).toArray()) {
                CutStores first = cut(stores(seed + at), at, inTheMiddle, seed + at);
                first.cutAt(next, inTheMiddle, seed);
                mount(first);
                List<String> found = problemsOf(first.crash(seed));
                if (!found.isEmpty()) {
                    problems.add("at step " + step + ", then at " + first.changes + ": " + found);
                }
            }
            all.add(problems);
        }
        return all;
    }

    private void mount(CutStores stores) throws IOException {
        try (Volume volume = open(stores)) {
            files.use(volume);
        } catch (IOException | RuntimeException e) {
            if (!stores.isOff()) {
                throw e;
            }
        }
    }

    @Test
    void aSecondCutWhileTheFirstIsMendedLosesNothing() throws IOException {
        problemsAfterTwoCuts().forEach(problems -> assertEquals(List.of(), problems));
    }

    @Test
    void controlASecondCutFindsAForceThatDoesNothing() throws IOException {
        forceOfRawFilesDoesNothing = true;
        assertTrue(problemsAfterTwoCuts().stream().anyMatch(this::isLoss));
    }

    @Test
    void controlAForceThatDoesNothingIsNoticed() throws IOException {
        forceOfRawFilesDoesNothing = true;
        assertIsNoticed(Promise.KEPT);
    }

    @Test
    void controlACommitThatIsNotDurableIsNoticed() throws IOException {
        assertIsNoticed(Promise.COMMIT_IS_NOT_DURABLE);
    }

    @Test
    void controlABackingFileThatIsDeletedBeforeTheCommitIsNoticed() throws IOException {
        int changes = changes().size();
        deletesEarly = true;
        assertIsNoticed(Promise.KEPT, changes);
    }
}
