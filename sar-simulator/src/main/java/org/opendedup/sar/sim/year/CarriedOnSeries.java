package org.opendedup.sar.sim.year;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.sar.sim.block.Mixing;
import org.opendedup.sar.sim.trace.BackupVersion;

/**
 * A series of backups that begins with the versions of a trace and carries on with synthetic ones, whose changes are
 * like those of the trace. The same trace, settings and seed make the same series. In detail:
 *
 * <ol>
 *   <li><b>Changes.</b> Each two successive versions of the whole trace are compared ({@link Change}), forwards (how
 *       the older one became the newer one) and backwards. Backwards, what the trace added is dropped, and what it
 *       dropped is added.
 *   <li><b>Stretches.</b> The steps of each comparison are cut into stretches of {@value #STRETCH_CHUNKS} chunks,
 *       counting kept, dropped and added chunks. So a stretch has the runs of the trace with their lengths and
 *       distances; a longer run is in several stretches.
 *   <li><b>A day.</b> One pair of versions is drawn at random, and the last backup is passed from its beginning to its
 *       end: again and again, a stretch of that pair is drawn at random and played at the present place. It keeps and
 *       drops chunks of the last backup, and adds new chunks with the lengths that new chunks had in the trace. A
 *       repetition copies as many chunks as in the trace, from a random place of the last backup, or of what is made of
 *       this one.
 *   <li><b>Size.</b> A stretch is one of the forward comparison while the day's backup is going to be smaller than the
 *       last version of the trace (what was made and what is left of the last backup), else a backward one. So the size
 *       stays near that, where the trace's own size grows. The mean share of new chunks a day is between those of the
 *       forward and backward comparisons.
 *   <li><b>Less drift.</b> With a drift below 1, a stretch is played with that probability only, and otherwise
 *       {@value #STRETCH_CHUNKS} chunks are kept. So there are fewer changes, of the same lengths.
 * </ol>
 *
 * <p>Not modelled: files that change again and again (places of changes are independent of earlier days), and relations
 * between changes farther apart than a stretch.
 */
final class CarriedOnSeries {
    static final int STRETCH_CHUNKS = 256;

    /** Changes of one pair of versions, in stretches. */
    private record Pair(List<Stretch> forwards, List<Stretch> backwards) {}

    /** A part of a change. */
    private record Stretch(BackupVersion target, List<Change.Step> steps) {}

    private final List<BackupVersion> given;
    private final List<Pair> pairs = new ArrayList<>();
    private final double drift;
    private final long targetBytes;
    private final SplittableRandom random;
    private final long freshSalt;
    private int made;
    private long fresh;
    private BackupVersion last = new BackupVersion();

    /**
     * @param trace all versions of the trace, at least two
     * @param sample the versions with which the series begins; the size of the last one is kept
     * @param drift share of the trace's changes that a day has, from 0 to 1
     */
    CarriedOnSeries(List<BackupVersion> trace, List<BackupVersion> sample, double drift, long seed) {
        if (trace.size() < 2) {
            throw new IllegalArgumentException("a trace of one version has no changes that could be carried on");
        }
        given = sample;
        this.drift = drift;
        targetBytes = sample.get(sample.size() - 1).bytes();
        random = new SplittableRandom(seed);
        freshSalt = random.nextLong();
        for (int version = 1; version < trace.size(); version++) {
            BackupVersion old = trace.get(version - 1);
            BackupVersion next = trace.get(version);
            pairs.add(new Pair(stretches(Change.between(old, next)), stretches(Change.between(next, old))));
        }
    }

    private static List<Stretch> stretches(Change change) {
        List<Stretch> stretches = new ArrayList<>();
        List<Change.Step> steps = new ArrayList<>();
        int room = STRETCH_CHUNKS;
        for (Change.Step step : change.steps()) {
            for (int at = 0; at < step.chunks(); ) {
                int count = Math.min(room, step.chunks() - at);
                steps.add(step.part(at, count));
                at += count;
                room -= count;
                if (room == 0) {
                    stretches.add(new Stretch(change.target(), List.copyOf(steps)));
                    steps.clear();
                    room = STRETCH_CHUNKS;
                }
            }
        }
        if (!steps.isEmpty()) {
            stretches.add(new Stretch(change.target(), List.copyOf(steps)));
        }
        return stretches;
    }

    /** Returns the next backup. */
    BackupVersion next() {
        last = made < given.size() ? given.get(made) : new Day().make();
        made++;
        return last;
    }

    /** The backup of a day while it is being made from the last one. */
    private final class Day {
        private final BackupVersion backup = new BackupVersion();
        private final Pair pair = pairs.get(random.nextInt(pairs.size()));
        /** The next chunk of the last backup. */
        private int next;

        private long passedBytes;

        BackupVersion make() {
            while (next < last.chunks()) {
                boolean grows = backup.bytes() + last.bytes() - passedBytes < targetBytes;
                List<Stretch> stretches = grows ? pair.forwards : pair.backwards;
                Stretch stretch = stretches.get(random.nextInt(stretches.size()));
                if (random.nextDouble() < drift) {
                    play(stretch);
                } else {
                    pass(STRETCH_CHUNKS, true);
                }
            }
            return backup;
        }

        private void play(Stretch stretch) {
            for (Change.Step step : stretch.steps) {
                switch (step.kind()) {
                    case KEEP -> pass(step.chunks(), true);
                    case DROP -> pass(step.chunks(), false);
                    case NEW -> addNew(stretch.target, step);
                    case REPEAT_OLD -> repeat(last, step.chunks());
                    case REPEAT_NEW -> repeat(backup, step.chunks());
                }
            }
        }

        private void pass(int chunks, boolean keeps) {
            int end = Math.min(last.chunks(), next + chunks);
            for (; next < end; next++) {
                passedBytes += last.length(next);
                if (keeps) {
                    backup.add(last.fingerprint(next), last.length(next));
                }
            }
        }

        private void addNew(BackupVersion lengths, Change.Step step) {
            for (int chunk = step.from(); chunk < step.from() + step.chunks(); chunk++) {
                backup.add(Mixing.mix(freshSalt + ++fresh * Mixing.STEP), lengths.length(chunk));
            }
        }

        private void repeat(BackupVersion source, int chunks) {
            if (source.chunks() > 0) {
                int count = Math.min(chunks, source.chunks());
                backup.addRun(source, random.nextInt(source.chunks() - count + 1), count);
            }
        }
    }
}
