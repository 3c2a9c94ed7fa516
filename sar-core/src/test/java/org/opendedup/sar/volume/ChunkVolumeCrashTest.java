package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.volume.chunks.ChunkVolume;

/**
 * Cuts the power at a random call of the stores while one thread puts, claims, syncs and collects. Afterwards the
 * volume is in the state after one of the calls, not earlier than the last sync that returned.
 */
@Timeout(300)
class ChunkVolumeCrashTest {
    private static final int TRIALS = 60;
    private static final int STEPS = 400;
    private static final int CONTENTS = 60;

    private final long seed = TestSeed.next();

    /** Which promise of the stores is broken. */
    private enum Control {
        NONE,
        FORCE_DOES_NOTHING,
        COMMIT_IS_NOT_DURABLE
    }

    /** What the client knows: the count of each content, by number; -1 if a collection may have removed it. */
    private record State(int[] counts) {}

    @Test
    void whatWasSyncedIsThereAfterACrash() throws IOException {
        for (int trial = 0; trial < TRIALS; trial++) {
            assertNull(failure(seed + trial, Control.NONE), "trial " + trial + " of seed " + seed);
        }
    }

    @Test
    void theTestFindsBytesThatAreNotForced() throws IOException {
        assertFound(".pack", Control.FORCE_DOES_NOTHING);
    }

    @Test
    void theTestFindsCommitsThatAreNotDurable() throws IOException {
        assertFound("no state has the counts", Control.COMMIT_IS_NOT_DURABLE);
    }

    private void assertFound(String loss, Control control) throws IOException {
        List<String> failures = new ArrayList<>();
        for (int trial = 0; trial < TRIALS; trial++) {
            String failure = failure(seed + trial, control);
            if (failure != null && failure.contains(loss)) {
                return;
            }
            failures.add(String.valueOf(failure));
        }
        fail("the control must find '" + loss + "', not " + failures);
    }

    /** Runs one trial; returns what is wrong after the crash, or null. */
    private static @Nullable String failure(long trialSeed, Control control) throws IOException {
        SplittableRandom random = new SplittableRandom(trialSeed);
        CrashDirectory directory = new CrashDirectory(trialSeed);
        ChunkTrial trial = ChunkTrial.create(directory);
        AtomicLong callsLeft = new AtomicLong(Long.MAX_VALUE);
        trial.hooks.hook = call -> {
            if (callsLeft.getAndDecrement() <= 0) {
                callsLeft.set(0);
                throw new IOException("the power is off");
            }
            return call.proceed();
        };
        List<State> states = new ArrayList<>();
        int[] counts = new int[CONTENTS];
        Arrays.fill(counts, -1);
        states.add(new State(counts.clone()));
        Map<Integer, Long> locations = new HashMap<>();
        int synced = 0;
        ChunkVolume volume = trial.open();
        // What identifies the volume is durable: it is not to be the loss that a control finds.
        directory.setForceDoesNothing(control == Control.FORCE_DOES_NOTHING);
        trial.metadata.setCommitIsNotDurable(control == Control.COMMIT_IS_NOT_DURABLE);
        callsLeft.set(random.nextLong(600));
        try {
            for (int step = 0; step < STEPS; step++) {
                int number = random.nextInt(CONTENTS);
                byte[] chunk = ChunkTrial.chunk(number);
                byte[] fingerprint = ChunkTrial.fingerprint(chunk);
                int choice = random.nextInt(40);
                if (choice == 0) {
                    volume.sync();
                    synced = states.size() - 1;
                } else if (choice == 1) {
                    trial.passGrace();
                    for (int i = 0; i < CONTENTS; i++) {
                        counts[i] = counts[i] == 0 ? -1 : counts[i];
                    }
                    states.add(new State(counts.clone()));
                    volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
                } else if (choice < 25) {
                    // Noted first: the call may be in effect although it failed.
                    counts[number] = Math.max(0, counts[number]) + 1;
                    states.add(new State(counts.clone()));
                    locations.put(
                            number,
                            volume.put(fingerprint, chunk, chunk.length, 1, 1).location());
                } else if (counts[number] > 0) {
                    counts[number]--;
                    states.add(new State(counts.clone()));
                    volume.claim(fingerprint, locations.get(number), -1);
                }
            }
        } catch (IOException e) {
            if (callsLeft.get() > 0) {
                throw e;
            }
        }
        callsLeft.set(0);
        ChunkTrial left;
        try {
            left = trial.crash(trialSeed);
        } catch (IOException e) {
            abandon(volume);
            return "the metadata are refused: " + e.getMessage();
        }
        abandon(volume);
        return check(left, states.subList(synced, states.size()), locations);
    }

    private static void abandon(ChunkVolume volume) {
        try {
            volume.close();
        } catch (IOException e) {
            // Expected, because its stores are gone.
        }
    }

    private static @Nullable String check(ChunkTrial left, List<State> possible, Map<Integer, Long> locations) {
        int[] found = new int[CONTENTS];
        try (ChunkVolume volume = left.open()) {
            for (int number = 0; number < CONTENTS; number++) {
                byte[] chunk = ChunkTrial.chunk(number);
                byte[] fingerprint = ChunkTrial.fingerprint(chunk);
                long location = volume.find(fingerprint);
                found[number] = location == ChunkVolume.NOT_FOUND ? -1 : volume.references(location);
                if (found[number] > 0) {
                    if (!Arrays.equals(chunk, volume.get(fingerprint, location))) {
                        return "chunk " + number + " has other bytes";
                    }
                    Long told = locations.get(number);
                    if (told != null && !Arrays.equals(chunk, volume.get(fingerprint, told))) {
                        return "chunk " + number + " is not where it was put";
                    }
                }
            }
        } catch (IOException e) {
            return "it cannot be read: " + e.getMessage();
        }
        for (State state : possible) {
            if (agrees(state, found)) {
                return null;
            }
        }
        return "no state has the counts " + Arrays.toString(found) + "; last synced "
                + Arrays.toString(possible.get(0).counts);
    }

    /** A content without references may be there or not: a collection removes it in two commits. */
    private static boolean agrees(State state, int[] found) {
        for (int i = 0; i < CONTENTS; i++) {
            if (Math.max(0, state.counts[i]) != Math.max(0, found[i])) {
                return false;
            }
        }
        return true;
    }
}
