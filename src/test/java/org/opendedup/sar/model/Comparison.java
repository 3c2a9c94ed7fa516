package org.opendedup.sar.model;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.opendedup.sar.TestSeed;

/** Runs ops on a new file system and on the model, and reports the first difference of their results. */
public final class Comparison {
    /** Maximum number of runs of op lists for shrinking. */
    private static final int SHRINK_RUNS = 150;

    private final Maker maker;

    /** Makes a new, empty file system. */
    @FunctionalInterface
    public interface Maker {
        FileSystem make() throws IOException;
    }

    /** The op at which the results differ. */
    public record Difference(int index, Op op, String expected, String found) {
        @Override
        public String toString() {
            return "op " + index + ", " + op + "\n  expected " + expected + "\n  found    " + found;
        }
    }

    public Comparison(Maker maker) {
        this.maker = maker;
    }

    /** The first difference, after which nothing else was run. Ends with a remount and a read of everything. */
    public Optional<Difference> run(List<Op> ops) throws IOException {
        List<Op> all = new ArrayList<>(ops);
        all.addAll(List.of(new Op.Verify(), new Op.Remount(), new Op.Usage(), new Op.Verify()));
        try (FileSystem fileSystem = maker.make()) {
            OpRunner tested = new OpRunner(fileSystem);
            OpRunner model = new OpRunner(new ModelFileSystem());
            Optional<Difference> difference = firstDifference(all, tested, model);
            if (difference.isPresent()) {
                tested.closeAll();
            }
            return difference;
        }
    }

    private static Optional<Difference> firstDifference(List<Op> ops, OpRunner tested, OpRunner model) {
        for (int i = 0; i < ops.size(); i++) {
            String expected = model.run(ops.get(i));
            String found = tested.run(ops.get(i));
            if (!expected.equals(found)) {
                return Optional.of(
                        new Difference(i, ops.get(i), differing(expected, found), differing(found, expected)));
            }
        }
        return Optional.empty();
    }

    /** Of a long result, only the lines that the other does not have. */
    private static String differing(String text, String other) {
        List<String> others = other.lines().toList();
        String lines = text.lines().filter(line -> !others.contains(line)).collect(Collectors.joining("\n           "));
        return lines.isEmpty() ? "nothing more" : lines;
    }

    /** A shorter list whose results differ at the same op. */
    public List<Op> shrink(List<Op> failing, Op differing) throws IOException {
        return Shrinking.shrink(
                failing,
                SHRINK_RUNS,
                candidate -> run(candidate)
                        .filter(found -> found.op().equals(differing))
                        .isPresent());
    }

    /** Fails if there is a difference, with the shrunk list and the command that repeats it. */
    public void check(long seed, int count, Class<?> test) throws IOException {
        check(seed, new OpGenerator(seed, true).ops(count), test);
    }

    /** As above, with ops made from random ones of the seed. */
    public void check(long seed, List<Op> ops, Class<?> test) throws IOException {
        Optional<Difference> difference = run(ops);
        if (difference.isPresent()) {
            List<Op> shrunk = shrink(
                    ops.subList(0, Math.min(ops.size(), difference.get().index() + 1)),
                    difference.get().op());
            throw new AssertionError("seed " + seed + ": " + difference.get() + "\nthe same with these ops:\n  "
                    + shrunk.stream().map(Op::toString).collect(Collectors.joining("\n  ")) + "\n"
                    + run(shrunk).map(Difference::toString).orElse("(not every time)")
                    + "\nagain: " + TestSeed.again(test, seed));
        }
    }
}
