package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code scripts/bench database}: makes a volume of millions of files, and metadata of millions of chunks, with the
 * engine alone, and measures the bytes read and the time of a cold lookup, a listing, creating and removing. Rates are
 * measured alternately with those of a small volume. Bytes read are those that system calls returned to this process
 * ({@code rchar} of {@code /proc/self/io}), from the kernel's cache or from the disk.
 */
@Command(
        name = "scripts/bench database",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {"Measures the metadata database of a large volume, without a mount.", ""})
public final class LargeMetadata implements Callable<Integer> {
    private static final int ROUNDS = 7;
    private static final int COLD_FOLDERS = 7;
    private static final int LOOKUPS = 2000;
    private static final int LISTINGS = 5;

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(names = "--work", paramLabel = "FOLDER", description = "Work folder (default: ${DEFAULT-VALUE})")
    private Path work = Path.of("/var/tmp/sar-bench-database");

    @Option(
            names = "--files",
            description = "Files of the large volume; about 85 bytes of disk each (default: ${DEFAULT-VALUE})")
    private int files = 10_000_000;

    @Option(names = "--small", description = "Files of the volume it is compared with (default: ${DEFAULT-VALUE})")
    private int small = 10_000;

    @Option(names = "--folder-files", description = "Files of each folder (default: ${DEFAULT-VALUE})")
    private int folderFiles = 1000;

    @Option(
            names = "--in-turns",
            description = "Create files in all folders in turn, so that the inode numbers of a folder lie far apart")
    private boolean inTurns;

    @Option(
            names = "--chunks",
            description =
                    "Chunks of the second database; about 15 bytes of disk each, 0: none (default: ${DEFAULT-VALUE})")
    private long chunks = 100_000_000;

    @Option(names = "--emptied", description = "Files of a folder that is emptied, 0: none (default: ${DEFAULT-VALUE})")
    private int emptied = 300_000;

    @Option(names = "--snapshots", description = "Snapshots of the large volume, 0: none (default: ${DEFAULT-VALUE})")
    private int snapshots = 10_000;

    @Option(names = "--memory-budget", paramLabel = "MB", description = "Of each volume (default: ${DEFAULT-VALUE})")
    private int budgetMb = 1024;

    @Option(names = "--seed", description = "Of everything random (default: ${DEFAULT-VALUE})")
    private long seed = 1;

    @Option(names = "--encrypt", description = "Encrypt both databases, with a key that the seed determines")
    private boolean encrypt;

    @Option(
            names = "--keep",
            description = "Leaves the databases in the work folder; a further run measures them without making them")
    private boolean keep;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new LargeMetadata()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        Files.createDirectories(work);
        try {
            if (files > 0) {
                measureFiles();
            }
            if (chunks > 0) {
                measureChunks();
            }
        } finally {
            if (!keep) {
                delete(work);
            }
        }
        return 0;
    }

    private @Nullable VolumeKeys keys() {
        byte[] master = new byte[VolumeKeys.KEY_BYTES];
        new Random(seed).nextBytes(master);
        return encrypt ? new VolumeKeys(master, new UUID(seed, seed), AeadCipher.AES_256_GCM) : null;
    }

    private void measureFiles() throws IOException {
        long budget = budgetMb * 1_000_000L;
        FileTree.Shape largeShape = new FileTree.Shape(files, folderFiles, inTurns);
        FileTree.Shape smallShape = new FileTree.Shape(small, folderFiles, inTurns);
        try (FileTree large = FileTree.open(work.resolve("large"), largeShape, budget, keys());
                FileTree few = FileTree.open(work.resolve("small"), smallShape, budget, keys())) {
            for (FileTree tree : List.of(few, large)) {
                if (tree.isNew()) {
                    Cost cost = Cost.of(tree::fill);
                    say(
                            "%d files made, a second: %.0f",
                            tree.shape().files(), tree.shape().files() / cost.seconds());
                }
            }
            large.reopen();
            coldListings(large);
            coldLookups(large);
            if (snapshots > 0) {
                differences(large);
            }
            rates(few, large);
            if (snapshots > 0) {
                snapshots(few, large);
            }
            if (emptied > 0) {
                emptiedFolder(large);
            }
        }
        say("%nlarge volume:%n%s", DatabaseSizes.of(work.resolve("large").resolve("metadata")));
        say("most memory of this process: %s", ProcessFigures.mostMemory());
    }

    /** Measures each listing in a volume that was just opened, so that none finds data cached by the one before. */
    private void coldListings(FileTree tree) throws IOException {
        Random random = new Random(seed);
        List<Cost> costs = Cost.several(COLD_FOLDERS, round -> {
            int folder = random.nextInt(tree.shape().folders());
            tree.reopen();
            return Cost.of(() -> tree.findWithAttributes(folder));
        });
        say(
                "cold find -ls of a folder of %d, median of %d: %s; most %s",
                folderFiles, COLD_FOLDERS, Cost.median(costs), Cost.most(costs));
    }

    private void coldLookups(FileTree tree) throws IOException {
        Random random = new Random(seed + 1);
        tree.reopen();
        for (String what : List.of("first", "next")) {
            Cost present = Cost.of(() -> tree.lookups(random, LOOKUPS, true));
            Cost absent = Cost.of(() -> tree.lookups(random, LOOKUPS, false));
            say(
                    "%s %d lookups anywhere, of names that are there: %s each; that are not: %s each",
                    what, LOOKUPS, present.each(LOOKUPS), absent.each(LOOKUPS));
        }
    }

    private void rates(FileTree few, FileTree large) throws IOException {
        for (FileTree.Work kind : FileTree.Work.values()) {
            round(few, kind, ROUNDS); // warms up the JIT compilers
            List<Cost> fewCosts = new ArrayList<>();
            List<Cost> largeCosts = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                fewCosts.add(round(few, kind, round));
                largeCosts.add(round(large, kind, round));
            }
            Cost fewCost = Cost.median(fewCosts);
            Cost largeCost = Cost.median(largeCosts);
            say(
                    "%s, a second: %.0f among %d, %.0f among %d, %.2f of it (by CPU time %.2f); %s and %s each",
                    kind.words(),
                    1 / fewCost.seconds(),
                    few.shape().files(),
                    1 / largeCost.seconds(),
                    large.shape().files(),
                    fewCost.seconds() / largeCost.seconds(),
                    (double) fewCost.cpuNanos() / largeCost.cpuNanos(),
                    fewCost,
                    largeCost);
        }
    }

    /** Returns the cost of one change. */
    private Cost round(FileTree tree, FileTree.Work kind, int round) throws IOException {
        Random random = new Random(seed + 100 + round);
        tree.prepare(kind);
        int[] done = new int[1];
        return Cost.of(() -> done[0] = tree.run(kind, random)).each(done[0]);
    }

    /** Measures the comparison of two snapshots, and a walk of both beside it. */
    private void differences(FileTree large) throws IOException {
        Random random = new Random(seed);
        large.snapshot("before");
        large.changeNames(random, 200);
        large.snapshot("names");
        large.changeContents(random, 400);
        large.snapshot("after");
        large.reopen();
        long[] told = new long[1];
        for (List<String> pair :
                List.of(List.of("before", "names"), List.of("names", "after"), List.of("before", "after"))) {
            Cost cost = Cost.of(() -> told[0] = large.compare(pair.get(0), pair.get(1)));
            say("%s of %d files compared, %d changes: %s", pair, large.shape().files(), told[0], cost);
        }
        Cost walk = Cost.of(() -> told[0] = large.compareByWalking("before", "after"));
        say("the same by listing both, without a mount, %d names differ: %s", told[0], walk);
        large.deleteSnapshots(List.of("before", "names", "after"));
    }

    /**
     * Measures the small volume without snapshots and with one before each round, in turns; then many snapshots of the
     * large one, each with a new file.
     */
    private void snapshots(FileTree few, FileTree large) throws IOException {
        // Without those that use up the folders of the small volume.
        for (FileTree.Work kind : EnumSet.range(FileTree.Work.CREATE_TOGETHER, FileTree.Work.REMOVE_ANYWHERE)) {
            round(few, kind, ROUNDS);
            List<Cost> without = new ArrayList<>();
            List<Cost> with = new ArrayList<>();
            for (int round = 0; round < 2 * ROUNDS; round++) {
                without.add(round(few, kind, round));
                few.prepare(kind);
                few.snapshot("round");
                int[] done = new int[1];
                Random random = new Random(seed + 200 + round);
                with.add(Cost.of(() -> done[0] = few.run(kind, random)).each(done[0]));
                few.deleteSnapshots(List.of("round"));
            }
            Cost plain = Cost.median(without);
            Cost kept = Cost.median(with);
            say(
                    "%s, a second: %.0f, %.0f after a snapshot, %.2f of it; %s and %s each",
                    kind.words(),
                    1 / plain.seconds(),
                    1 / kept.seconds(),
                    plain.seconds() / kept.seconds(),
                    plain,
                    kept);
        }
        List<String> names = new ArrayList<>();
        List<Cost> costs = Cost.several(snapshots, number -> {
            large.createOne();
            names.add("snapshot-" + number);
            return Cost.of(() -> large.snapshot("snapshot-" + number));
        });
        double[] ms =
                costs.stream().mapToDouble(cost -> cost.nanos() / 1e6).sorted().toArray();
        say(
                "%d snapshots of %d files: each made in %.2f ms, 99 %% in at most %.2f ms, the slowest in %.1f ms",
                snapshots, large.shape().files(), ms[ms.length / 2], ms[(int) (ms.length * 0.99)], ms[ms.length - 1]);
        say("their folder is listed in %s", Cost.of(large::listSnapshots));
        say("the volume with them is opened in %s", Cost.of(large::reopen));
        say("one of them is deleted in %s", Cost.of(() -> large.deleteSnapshots(List.of(names.get(snapshots / 2)))));
        names.remove(snapshots / 2);
        say(
                "each of the others is deleted in %s",
                Cost.of(() -> large.deleteSnapshots(names)).each(names.size()));
    }

    private void emptiedFolder(FileTree tree) throws IOException {
        long folder = tree.fillAndEmpty(emptied);
        for (int listing = 1; listing <= LISTINGS; listing++) {
            say("listing %d of a folder emptied of %d names: %s", listing, emptied, Cost.of(() -> tree.list(folder)));
            pause();
        }
        tree.removeEmptied();
    }

    /** Waits for the database's background work to end. */
    private static void pause() throws IOException {
        try {
            Thread.sleep(2000);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void measureChunks() throws IOException {
        try (ChunkPages pages = ChunkPages.open(work.resolve("chunks"), chunks, budgetMb * 1_000_000L, seed, keys())) {
            if (pages.isNew()) {
                Cost cost = Cost.of(pages::fill);
                say(
                        "%d chunks in pages of %d files made, a second: %.0f",
                        chunks, pages.files(), chunks / cost.seconds());
                say("longest commit: %.0f ms", pages.longestCommitMs());
            }
            pages.reopen();
            Random random = new Random(seed);
            for (String what : List.of("first", "next")) {
                Cost page = Cost.of(() -> pages.readPages(random, LOOKUPS));
                Cost count = Cost.of(() -> pages.readCounts(random, LOOKUPS));
                say(
                        "%s %d pages anywhere: %s each; counts: %s each",
                        what, LOOKUPS, page.each(LOOKUPS), count.each(LOOKUPS));
            }
        }
        say("%nchunks:%n%s", DatabaseSizes.of(work.resolve("chunks")));
    }

    private void say(String format, Object... arguments) {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        out.println(String.format(format, arguments));
        out.flush();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            for (Path path : walk.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
