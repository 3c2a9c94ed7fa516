package org.opendedup.sar.crash;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.model.Content;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.ModelFileSystem;
import org.opendedup.sar.model.Op;
import org.opendedup.sar.model.OpGenerator;
import org.opendedup.sar.model.OpRunner;

/** Runs ops, cuts the power at a random moment, restarts, and checks the state found. */
public final class CrashTrial {
    /**
     * Maximum number of calls of the stores between the chosen op and the cut: enough for a commit of several
     * containers.
     */
    private static final int MAX_STEPS = 60;

    private static final String LOSS = "lost: ";
    private static final String NEW_FILE = "written after the crash";

    private final CrashableVolume.Maker maker;
    private final UnaryOperator<List<Op>> more;
    private final boolean isRaw;

    public CrashTrial(CrashableVolume.Maker maker) {
        this(maker, UnaryOperator.identity());
    }

    /** @param more inserts further ops between the random ones */
    public CrashTrial(CrashableVolume.Maker maker, UnaryOperator<List<Op>> more) {
        this(maker, more, false);
    }

    private CrashTrial(CrashableVolume.Maker maker, UnaryOperator<List<Op>> more, boolean isRaw) {
        this.maker = maker;
        this.more = more;
        this.isRaw = isRaw;
    }

    /** Returns a trial with files on the fast tier, for which {@link CrashHistory} has a weaker rule. */
    public static CrashTrial withRawFiles(CrashableVolume.Maker maker) {
        return new CrashTrial(maker, UnaryOperator.identity(), true);
    }

    /** Fails if anything is wrong after the crash. */
    public void check(long seed, int count, Class<?> test) throws IOException {
        Optional<String> problem = problem(seed, count);
        if (problem.isPresent()) {
            throw new AssertionError("seed " + seed + ": " + problem.get() + "\nagain: " + TestSeed.again(test, seed));
        }
    }

    /** Whether synced data is lost with one of the seeds; a control accepts no other problem. */
    public boolean findsALoss(int seeds, int count) throws IOException {
        return finds(LOSS, seeds, count);
    }

    /** Whether a problem with that text is found with one of the seeds. */
    public boolean finds(String text, int seeds, int count) throws IOException {
        for (long seed = 1; seed <= seeds; seed++) {
            if (problem(seed, count).filter(problem -> problem.contains(text)).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** What is wrong after a crash; a restart or a read that fails is a problem like any other. */
    public Optional<String> problem(long seed, int count) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        List<Op> ops = more.apply(new OpGenerator(seed, false).ops(count));
        CrashableVolume volume = maker.make(seed);
        CrashHistory history = new CrashHistory(isRaw);
        Optional<String> early = runUntilCut(ops, volume, history, random);
        try (FileSystem found = volume.restart()) {
            if (early.isPresent()) {
                return early;
            }
            Optional<String> lost = lost(history, found);
            return lost.isPresent() ? lost : stillWorks(found);
        } catch (IOException | RuntimeException | AssertionError e) {
            return Optional.of("after the crash: " + e);
        }
    }

    /** Bytes that cannot be read are lost like wrong ones. */
    private static Optional<String> lost(CrashHistory history, FileSystem found) {
        try {
            return history.problem(found).map(LOSS::concat);
        } catch (IOException e) {
            return Optional.of(LOSS + e);
        }
    }

    private static Optional<String> runUntilCut(
            List<Op> ops, CrashableVolume volume, CrashHistory history, SplittableRandom random) throws IOException {
        OpRunner tested = new OpRunner(volume.start());
        OpRunner model = new OpRunner(history);
        int cutAt = random.nextInt(ops.size());
        for (int i = 0; i < ops.size() && !volume.isPowerOff(); i++) {
            if (i == cutAt) {
                volume.cutPowerAfter(random.nextInt(MAX_STEPS));
            }
            String expected = model.run(ops.get(i));
            String answer = tested.run(ops.get(i));
            boolean survived = !volume.isPowerOff();
            history.endOfOp(survived);
            if (survived && !expected.equals(answer)) {
                return Optional.of("before the crash, op " + i + ", " + ops.get(i) + ": expected " + expected
                        + ", found " + answer);
            }
        }
        return Optional.empty();
    }

    /**
     * The file system found has the right counts, accepts a new file, whose bytes it may already have, and keeps it.
     */
    private static Optional<String> stillWorks(FileSystem found) throws IOException {
        List<Op> ops = List.of(
                new Op.Create(NEW_FILE, 0600),
                new Op.Write(NEW_FILE, 5000, new Content(1, 0, 300_000)),
                new Op.SyncFile(NEW_FILE, false),
                new Op.Read(NEW_FILE, 0, 305_000),
                new Op.Remount(),
                new Op.Read(NEW_FILE, 0, 305_000));
        List<String> problems = found.problems();
        if (!problems.isEmpty()) {
            return Optional.of("after the crash: " + problems);
        }
        OpRunner expected = new OpRunner(new ModelFileSystem());
        OpRunner tested = new OpRunner(found);
        for (Op op : ops) {
            String right = expected.run(op);
            String answer = tested.run(op);
            if (!right.equals(answer)) {
                return Optional.of("after the crash, " + op + ": expected " + right + ", found " + answer);
            }
        }
        return Optional.empty();
    }
}
