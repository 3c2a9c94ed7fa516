package org.opendedup.sar.concurrent;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Listing;
import org.opendedup.sar.model.ModelFileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.model.Op;
import org.opendedup.sar.model.OpRunner;

/**
 * Short rounds of calls by several threads at once. After each round no calls run, every reference is forgotten, and
 * everything that the file system shows must equal the state of the model at the end of an order of the round's calls.
 * The next round begins with that state.
 */
final class Trial {
    static final int THREADS = 8;
    private static final int CALLS = 6;
    private static final int MAX_NAMES = 12;
    private static final int LIMIT_S = 60;

    private final FileSystem fileSystem;
    private final Worker.Lengths lengths;
    private final SplittableRandom random;
    private final AtomicLong clock = new AtomicLong();
    private ModelFileSystem model = new ModelFileSystem();

    /** @param fileSystem an empty file system */
    Trial(FileSystem fileSystem, long seed) {
        this(fileSystem, Worker.Lengths.OF_THAT_MOMENT, seed);
    }

    /** @param fileSystem an empty file system */
    Trial(FileSystem fileSystem, Worker.Lengths lengths, long seed) {
        this.fileSystem = fileSystem;
        this.lengths = lengths;
        random = new SplittableRandom(seed);
    }

    /** Runs rounds until one has no order. Returns the calls and results of that round. */
    Optional<String> run(int rounds) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (int round = 1; round <= rounds; round++) {
                Optional<String> fault = round(threads, round);
                if (fault.isPresent()) {
                    return fault;
                }
            }
            return Optional.empty();
        } finally {
            threads.shutdownNow();
        }
    }

    private Optional<String> round(ExecutorService threads, int round) throws IOException, InterruptedException {
        List<Worker.Held> held = hold();
        List<Event> events = work(threads, held);
        held.stream().filter(one -> one.inode() != Inode.ROOT).forEach(one -> fileSystem.forget(one.inode(), 1));
        List<String> shown = show(fileSystem);
        OrderSearch search = new OrderSearch(events, state -> shows(state, shown));
        Optional<ModelFileSystem> end = search.from(model);
        if (search.gaveUp()) {
            throw new AssertionError("the search for an order takes too long; make the rounds shorter");
        }
        if (end.isEmpty()) {
            return Optional.of(report(round, events, shown));
        }
        model = end.get();
        prune();
        // Nothing holds an inode without a name.
        model.remount();
        return Optional.empty();
    }

    /** Keeps the tree small: threads must meet, and the model is copied often. */
    private void prune() throws IOException {
        while (new Listing(model).tree().size() > MAX_NAMES) {
            List<String> paths = List.copyOf(new Listing(model).tree().keySet());
            String path = paths.get(1 + random.nextInt(paths.size() - 1));
            for (Op op : List.of(new Op.Unlink(path), new Op.RemoveDirectory(path))) {
                String answer = new OpRunner(fileSystem).run(op);
                if (!answer.equals(new OpRunner(model).run(op))) {
                    throw new AssertionError(op + " by one thread alone was answered " + answer);
                }
            }
        }
    }

    /**
     * Everything visible, including inode numbers: of two orders only one may give the name to the inode that really
     * has it.
     */
    static List<String> show(FileSystem fileSystem) throws IOException {
        Listing listing = new Listing(fileSystem);
        List<String> shown = new ArrayList<>();
        listing.tree().forEach((path, attributes) -> shown.add("/" + path + " is inode " + attributes.inode()));
        shown.addAll(listing.withContents());
        return shown;
    }

    static boolean shows(ModelFileSystem state, List<String> shown) {
        try {
            return show(state).equals(shown);
        } catch (IOException e) {
            throw new AssertionError("the model refused to be listed", e);
        }
    }

    /**
     * Takes a reference to some of the inodes with names; the others are found only by lookup, and may be removed at
     * any time.
     */
    private List<Worker.Held> hold() throws IOException {
        List<Worker.Held> held = new ArrayList<>();
        held.add(Worker.Held.ROOT);
        hold(Inode.ROOT, held);
        return held;
    }

    private void hold(long directory, List<Worker.Held> held) throws IOException {
        List<Worker.Held> children = new ArrayList<>();
        fileSystem.list(directory, 0, true, (name, inode, type, cookie, attributes) -> {
            if (attributes != null) {
                children.add(new Worker.Held(inode, type & Modes.TYPE));
            }
            return true;
        });
        for (Worker.Held child : children) {
            if (child.isDirectory()) {
                hold(child.inode(), held);
            }
            if (random.nextBoolean()) {
                held.add(child);
            } else {
                fileSystem.forget(child.inode(), 1);
            }
        }
    }

    private List<Event> work(ExecutorService threads, List<Worker.Held> held) throws InterruptedException {
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<Future<List<Event>>> workers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Worker worker = new Worker(i, fileSystem, clock, lengths, random.split(), held);
            workers.add(threads.submit((Callable<List<Event>>) () -> {
                start.await();
                return worker.work(CALLS);
            }));
        }
        List<Event> events = new ArrayList<>();
        for (Future<List<Event>> worker : workers) {
            events.addAll(get(worker));
        }
        return events;
    }

    private static List<Event> get(Future<List<Event>> worker) throws InterruptedException {
        try {
            return worker.get(LIMIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("a thread of the test failed", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("a call has not returned in " + LIMIT_S + " s: " + stacks(), e);
        }
    }

    private static String stacks() {
        return Thread.getAllStackTraces().entrySet().stream()
                .map(thread -> thread.getKey() + " " + List.of(thread.getValue()))
                .collect(Collectors.joining("\n"));
    }

    private String report(int round, List<Event> events, List<String> shown) {
        return "no order explains round " + round + ", which began with\n" + model.describe() + "calls:\n"
                + lines(events) + "\nshown at the end:\n" + String.join("\n", shown)
                + "\nthese alone contradict each other" + contradiction(events, shown);
    }

    /** Removes events that change nothing, one after the other, as long as there is still no order. */
    private String contradiction(List<Event> events, List<String> shown) {
        boolean withoutEnd = new OrderSearch(events, state -> true).from(model).isEmpty();
        Predicate<ModelFileSystem> end = withoutEnd ? state -> true : state -> shows(state, shown);
        List<Event> core = new ArrayList<>(events);
        for (Event event : events) {
            if (!event.isChange()) {
                core.remove(event);
                if (new OrderSearch(core, end).from(model).isPresent()) {
                    core.add(event);
                }
            }
        }
        core.sort(Comparator.comparingLong(Event::invoked));
        return (withoutEnd ? "" : ", or what is shown at the end") + ":\n" + lines(core);
    }

    private static String lines(List<Event> events) {
        return events.stream().map(Event::toString).collect(Collectors.joining("\n"));
    }
}
