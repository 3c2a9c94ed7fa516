package org.opendedup.sar.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.differential.Trial.Difference;
import org.opendedup.sar.model.Shrinking;
import org.opendedup.sar.mounted.TwoMounts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mounted volume behaves like ext4. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DifferentialTest {
    private static final Logger LOG = LoggerFactory.getLogger(DifferentialTest.class);

    private static final int OPS = 400;
    private static final int SEEDS = 4;
    /** Number of seeds after which everything is compared again, after a remount. */
    private static final int SEEDS_A_MOUNT = 12;
    /** Number of lists of ops that shrinking may try, and number of those with a remount each. */
    private static final int SHRINK_RUNS = 120;

    private static final int SHRINK_REMOUNTS = 20;

    private TwoMounts mounts;
    private int folders;

    @BeforeAll
    void mount(@TempDir Path folder) throws IOException {
        mounts = new TwoMounts(folder);
    }

    @AfterAll
    void unmount() throws IOException {
        if (mounts != null) {
            mounts.close();
        }
    }

    private Trial newTrial() {
        return new Trial(mounts, "trial" + folders++);
    }

    @Test
    void aVolumeDoesWhatExt4Does() throws IOException {
        List<String> failures = new ArrayList<>();
        Map<Long, Trial> trials = new TreeMap<>();
        long[] seeds = TestSeed.upTo(SEEDS).toArray();
        for (int i = 0; i < seeds.length; i++) {
            Trial trial = newTrial();
            Optional<Difference> difference = trial.run(OpLines.of(seeds[i], OPS));
            if (difference.isPresent()) {
                LOG.warn("seed {}: {}", seeds[i], difference.get());
                failures.add(report(seeds[i], shrunk(seeds[i], difference.get()), difference.get()));
            } else {
                trials.put(seeds[i], trial);
            }
            if (trials.size() == SEEDS_A_MOUNT || i == seeds.length - 1) {
                failures.addAll(lookAgain(trials));
                trials.clear();
            }
        }
        assertTrue(failures.isEmpty(), () -> String.join("\n\n", failures));
    }

    private List<String> lookAgain(Map<Long, Trial> trials) throws IOException {
        mounts.remount();
        List<String> failures = new ArrayList<>();
        for (Map.Entry<Long, Trial> each : trials.entrySet()) {
            Optional<Difference> difference = each.getValue().lookAgain();
            if (difference.isPresent()) {
                LOG.warn("seed {}: {}", each.getKey(), difference.get());
                List<String> ops = Shrinking.shrink(
                        OpLines.of(each.getKey(), OPS),
                        SHRINK_REMOUNTS,
                        candidate -> isSeenLater(candidate, difference.get()));
                failures.add(report(each.getKey(), ops, difference.get()));
            }
            each.getValue().remove();
        }
        return failures;
    }

    private List<String> shrunk(long seed, Difference difference) throws IOException {
        List<String> ops = OpLines.of(seed, OPS);
        return Shrinking.shrink(
                ops.subList(0, Math.min(ops.size(), difference.index() + 1)),
                SHRINK_RUNS,
                candidate ->
                        newTrial().run(candidate).filter(difference::isLike).isPresent());
    }

    private boolean isSeenLater(List<String> ops, Difference difference) throws IOException {
        Trial trial = newTrial();
        if (trial.run(ops).isPresent()) {
            return false;
        }
        mounts.remount();
        return trial.lookAgain().filter(difference::isLike).isPresent();
    }

    private static String report(long seed, List<String> ops, Difference difference) {
        return "seed " + seed + ": " + difference + "\nthe same with these ops:\n  " + String.join("\n  ", ops)
                + "\nagain: " + TestSeed.again(DifferentialTest.class, seed);
    }

    /** Shows that a difference is detected. */
    @Test
    void aCallThatIsNotCarriedOutIsNoticed() throws IOException {
        try (Hands hands = new Hands(mounts, "control")) {
            hands.call("0 022 mkdir ./a 755");
            hands.call("0 022 open 0 ./a/b RDWR|CREAT 644");
            List<String> ops = List.of(
                    "0 022 write 0 1 10",
                    "0 022 chmod ./a 2755",
                    "0 022 chown ./a 1000 -1",
                    "0 022 utimes ./a/b omit now follow",
                    "0 022 utimes ./a/b omit 5.0 follow",
                    "0 022 setxattr ./a/b user.a 61 0 follow",
                    "0 022 link ./a/b ./c nofollow",
                    "0 022 unlink ./a/b",
                    "0 022 truncate ./c 5000",
                    "0 022 rename ./c ./d 0");
            for (String op : ops) {
                assertTrue(hands.call(op, "0 022 look").difference().isPresent(), op);
                assertTrue(hands.call("0 022 look", op).difference().isPresent(), op);
                assertEquals(Optional.empty(), hands.call("0 022 look").difference(), op);
            }
        }
    }

    /** Shows that a change of a file by a remount is detected. */
    @Test
    void aTimeThatARemountChangesIsNoticed() throws IOException {
        Trial trial = newTrial();
        assertEquals(Optional.empty(), trial.run(List.of("0 022 open 0 ./a RDWR|CREAT 644", "0 022 write 0 1 10")));
        assertEquals(Optional.empty(), trial.lookAgain());
        Path file = mounts.volume().resolve(trial.folder()).resolve("a");
        Instant modified = Files.getLastModifiedTime(file).toInstant();
        Files.setLastModifiedTime(file, FileTime.from(modified.plusSeconds(2)));
        assertTrue(trial.lookAgain().isPresent());
    }
}
