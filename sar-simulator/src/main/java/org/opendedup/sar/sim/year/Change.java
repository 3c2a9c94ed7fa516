package org.opendedup.sar.sim.year;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sim.trace.BackupVersion;

/**
 * How one version of a trace became another: steps that make the new one from the old one, in order.
 *
 * <p>Chunks are matched by their fingerprints. The longest sequence of chunks that occur once in each version, in the
 * same order in both, stays; so do equal chunks directly after those. All other chunks of the old version are dropped.
 * All others of the new one are new, or a repetition of chunks of the old version (a moved run is dropped at one place
 * and repeated at another), or a repetition of new chunks.
 *
 * @param target the new version; it has the lengths of new chunks
 */
record Change(BackupVersion target, List<Step> steps) {
    /** What a step does. */
    enum Kind {
        /** Takes the next chunks of the old version. */
        KEEP,
        /** Passes over the next chunks of the old version. */
        DROP,
        /** Adds chunks that no version had. */
        NEW,
        /** Adds chunks that lie elsewhere in the old version, as one run. */
        REPEAT_OLD,
        /** Adds chunks that are new in this version and were added before, as one run. */
        REPEAT_NEW
    }

    /**
     * A step.
     *
     * @param chunks number of chunks, 1 or more
     * @param from of NEW: the first chunk of the new version; of the others without meaning
     */
    record Step(Kind kind, int chunks, int from) {
        Step part(int first, int count) {
            return new Step(kind, count, from + first);
        }
    }

    private static final int NONE = -1;

    static Change between(BackupVersion old, BackupVersion target) {
        return new Change(target, new Matching(old, target).steps());
    }

    /** Returns the number of chunks of all steps of a kind. */
    long chunks(Kind kind) {
        return steps.stream()
                .filter(step -> step.kind == kind)
                .mapToLong(Step::chunks)
                .sum();
    }

    /** Returns the number of steps of a kind. */
    long runs(Kind kind) {
        return steps.stream().filter(step -> step.kind == kind).count();
    }

    private static final class Matching {
        private final BackupVersion old;
        private final BackupVersion target;
        private final Map<Long, Integer> firstInOld = new HashMap<>();
        private final List<Step> steps = new ArrayList<>();

        Matching(BackupVersion old, BackupVersion target) {
            this.old = old;
            this.target = target;
            for (int chunk = 0; chunk < old.chunks(); chunk++) {
                firstInOld.putIfAbsent(old.fingerprint(chunk), chunk);
            }
        }

        List<Step> steps() {
            int[] kept = kept();
            Map<Long, Integer> firstAdded = new HashMap<>();
            int next = 0;
            // Where the chunk after the last repeated one lies, in the old version or in the new one.
            int afterOld = NONE;
            int afterAdded = NONE;
            for (int chunk = 0; chunk < target.chunks(); chunk++) {
                long fingerprint = target.fingerprint(chunk);
                Integer inOld = firstInOld.get(fingerprint);
                Integer added = firstAdded.get(fingerprint);
                if (kept[chunk] != NONE) {
                    add(Kind.DROP, kept[chunk] - next, 0, false);
                    add(Kind.KEEP, 1, 0, true);
                    next = kept[chunk] + 1;
                } else if (inOld != null) {
                    boolean goesOn = afterOld != NONE && isEqual(afterOld, chunk);
                    add(Kind.REPEAT_OLD, 1, 0, goesOn);
                    afterOld = (goesOn ? afterOld : inOld) + 1;
                } else if (added != null) {
                    boolean goesOn = afterAdded != NONE && target.fingerprint(afterAdded) == fingerprint;
                    add(Kind.REPEAT_NEW, 1, 0, goesOn);
                    afterAdded = (goesOn ? afterAdded : added) + 1;
                } else {
                    add(Kind.NEW, 1, chunk, true);
                    firstAdded.put(fingerprint, chunk);
                }
            }
            add(Kind.DROP, old.chunks() - next, 0, false);
            return steps;
        }

        private void add(Kind kind, int chunks, int from, boolean mayGoOn) {
            Step last = steps.isEmpty() ? null : steps.get(steps.size() - 1);
            if (chunks > 0 && mayGoOn && last != null && last.kind == kind) {
                steps.set(steps.size() - 1, new Step(kind, last.chunks + chunks, last.from));
            } else if (chunks > 0) {
                steps.add(new Step(kind, chunks, from));
            }
        }

        /** Returns for each chunk of the new version the chunk of the old one that stays there, or NONE. */
        private int[] kept() {
            int[] kept = longestRising(uniqueMatches());
            int last = NONE;
            for (int chunk = 0; chunk < kept.length; chunk++) {
                if (kept[chunk] == NONE && last != NONE && isEqual(last + 1, chunk)) {
                    kept[chunk] = last + 1;
                }
                // A chunk that goes on must not pass over the next one that stays.
                last = kept[chunk];
            }
            return withoutCrossings(kept);
        }

        private boolean isEqual(int inOld, int chunk) {
            return inOld < old.chunks() && old.fingerprint(inOld) == target.fingerprint(chunk);
        }

        /** Removes matches that are not above all earlier ones: extensions may meet a later match. */
        private static int[] withoutCrossings(int[] kept) {
            int least = Integer.MAX_VALUE;
            for (int chunk = kept.length - 1; chunk >= 0; chunk--) {
                if (kept[chunk] >= least) {
                    kept[chunk] = NONE;
                } else if (kept[chunk] != NONE) {
                    least = kept[chunk];
                }
            }
            return kept;
        }

        private int[] uniqueMatches() {
            Map<Long, Integer> oldCount = counts(old);
            Map<Long, Integer> targetCount = counts(target);
            int[] matches = new int[target.chunks()];
            for (int chunk = 0; chunk < matches.length; chunk++) {
                Long fingerprint = target.fingerprint(chunk);
                boolean isUnique =
                        oldCount.getOrDefault(fingerprint, 0) == 1 && targetCount.getOrDefault(fingerprint, 0) == 1;
                matches[chunk] = isUnique ? firstInOld.getOrDefault(fingerprint, NONE) : NONE;
            }
            return matches;
        }

        private static Map<Long, Integer> counts(BackupVersion version) {
            Map<Long, Integer> counts = new HashMap<>();
            for (int chunk = 0; chunk < version.chunks(); chunk++) {
                counts.merge(version.fingerprint(chunk), 1, Integer::sum);
            }
            return counts;
        }

        /** Keeps a longest rising sequence of the matches, by patience sorting; the others become NONE. */
        private static int[] longestRising(int[] matches) {
            int[] piles = new int[matches.length];
            int[] before = new int[matches.length];
            int count = 0;
            for (int chunk = 0; chunk < matches.length; chunk++) {
                if (matches[chunk] != NONE) {
                    int pile = pileFor(matches, piles, count, matches[chunk]);
                    before[chunk] = pile == 0 ? NONE : piles[pile - 1];
                    piles[pile] = chunk;
                    count = Math.max(count, pile + 1);
                }
            }
            int[] kept = new int[matches.length];
            Arrays.fill(kept, NONE);
            for (int chunk = count == 0 ? NONE : piles[count - 1]; chunk != NONE; chunk = before[chunk]) {
                kept[chunk] = matches[chunk];
            }
            return kept;
        }

        private static int pileFor(int[] matches, int[] piles, int count, int value) {
            int low = 0;
            int high = count;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (matches[piles[middle]] < value) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }
}
