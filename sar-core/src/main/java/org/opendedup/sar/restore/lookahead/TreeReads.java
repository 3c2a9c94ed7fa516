package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.restore.lookahead.TreeReader.Place;
import org.opendedup.sar.restore.tree.TreeTrail;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead for programs that go through a tree of files. A reader is found by the files that it reads to their ends
 * ({@link TreeTrail}), whatever process opens them; from then on a window of the lookahead paper (§3.3) goes over the
 * files that come next ({@link TreeReader}). The names are followed by a thread of its own accord: no request waits for
 * that. Safe for use by many threads.
 */
public final class TreeReads {
    private static final Logger log = LoggerFactory.getLogger(TreeReads.class);

    private static final int MAX_READERS = 4;
    /** Files read and not looked at yet; a further one is left out, and the reader is found a little later. */
    private static final int MAX_QUEUED = 1024;
    /**
     * Files of others after which a reader that is not proven is given up: whoever reads at random fits now and then.
     */
    private static final int MOST_OTHERS = 16;
    /**
     * Most pairs of files in one folder that are left alone after pairs that led to nothing: each trail costs the
     * listing of a folder.
     */
    private static final int MAX_PAUSE = 1 << 12;
    /**
     * Bytes of a file that says nothing about a tree: it is read ahead itself, and the memory of another reader would
     * be missing there.
     */
    private static final long LONG_FILE_BYTES = 1 << 20;

    private final ReadStreams streams;
    private final Namespace names;
    private final RecipePages recipes;
    private final ScheduledExecutorService threads;
    /** Replaced as a whole. Read by any thread, set with the monitor of {@link #followed}. */
    private volatile List<TreeReader> readers = List.of();

    private final BlockingQueue<Ended> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
    private final AtomicBoolean isHandling = new AtomicBoolean();
    private final LongAdder requestsAhead = new LongAdder();
    /** The one used last comes first. Guarded by itself, as are all fields below. */
    private final List<Followed> followed = new ArrayList<>();

    /** Number of files looked at. */
    private long files;

    private int pause;

    /** Pairs of files that begin no trail. Counted by any thread. */
    private final AtomicInteger pairsToLeave = new AtomicInteger();

    /** The file that was read to its end last. Read and set by any thread. */
    private volatile Ended last = new Ended(0, 0, false, false);
    /** Whether there is a trail. Read by any thread. */
    private volatile boolean areAny;

    /**
     * A file that was read to its end.
     *
     * @param hasNeighbour whether the file read before it is in the same folder
     * @param isLong whether it says nothing about a tree
     */
    private record Ended(long folder, long inode, boolean hasNeighbour, boolean isLong) {}

    /** A trail, and the reader once it is proven. */
    private static final class Followed {
        private final TreeTrail trail;
        private final ReadCredit credit = new ReadCredit();
        private @Nullable TreeReader reader;
        /** Top of the tree that the reader reads ahead in. */
        private long top;
        /** Number of the file that it read last. */
        private long usedAt;
        /** What {@link #usedAt} was some seconds ago. */
        private long wasUsedAt;

        Followed(TreeTrail trail, long usedAt) {
            this.trail = trail;
            this.usedAt = usedAt;
        }

        boolean lacksReader() {
            return trail.isProven() && (reader == null || reader.isClosed() || top != trail.top());
        }
    }

    /**
     * @param recipes recipes of the files
     * @param threads follow the names
     */
    public TreeReads(ReadStreams streams, Namespace names, RecipePages recipes, ScheduledExecutorService threads) {
        this.streams = streams;
        this.names = names;
        this.recipes = recipes;
        this.threads = threads;
        threads.scheduleWithFixedDelay(
                Threads.lasting(this::tidy), ReadStreams.IDLE_SECONDS, ReadStreams.IDLE_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * Notes a request for {@code length} bytes at {@code offset} of a file of {@code size} bytes.
     *
     * @param folder folder in which the file was found
     */
    public void note(long folder, long inode, long offset, int length, long size) {
        Place place = place(inode);
        if (place != null) {
            place.reader().note(place, offset, length);
        }
        if (offset + length >= size) {
            noteEnd(folder, inode, size > LONG_FILE_BYTES);
        }
    }

    /** Returns the place of a file with the reader that is nearest to it; null if no reader wants it soon. */
    private @Nullable Place place(long inode) {
        Place nearest = null;
        for (TreeReader reader : readers) {
            Place place = reader.place(inode);
            if (place != null && (nearest == null || place.distance() < nearest.distance())) {
                nearest = place;
            }
        }
        return nearest;
    }

    private void noteEnd(long folder, long inode, boolean isLong) {
        Ended before = last;
        if (before.inode == inode) {
            return;
        }
        Ended file = new Ended(folder, inode, before.folder == folder, isLong);
        last = file;
        // While pairs are left alone, no thread is woken for them.
        if ((areAny || file.hasNeighbour && !isLeft()) && queue.offer(file)) {
            handleSoon();
        }
    }

    /** Whether a pair of files begins no trail. */
    private boolean isLeft() {
        return pairsToLeave.get() > 0 && pairsToLeave.getAndDecrement() > 0;
    }

    /** Begins a request that was noted; to be closed. Null if nothing was fetched for it. */
    public @Nullable AheadRequest request(long inode, long offset, int length) {
        Place place = place(inode);
        if (place == null || offset >= place.length() || !place.mayWait()) {
            return null;
        }
        // The rest of a longer file is read ahead itself.
        return new TreeReader.Request(place, offset, (int) Math.min(length, place.length() - offset), requestsAhead);
    }

    /** Number of requests whose chunks were there, or on the way, because the reader goes through a tree. */
    public long requestsAhead() {
        return requestsAhead.sum();
    }

    /** Whether the order of all files that were read is followed by now. */
    public boolean isUpToDate() {
        return queue.isEmpty() && !isHandling.get();
    }

    private void handleSoon() {
        if (isHandling.compareAndSet(false, true)) {
            try {
                threads.execute(this::handle);
            } catch (RejectedExecutionException closing) {
                queue.clear();
            }
        }
    }

    private void handle() {
        try {
            synchronized (followed) {
                for (Ended file = queue.poll(); file != null; file = queue.poll()) {
                    handle(file);
                    boundTrails();
                }
                areAny = !followed.isEmpty();
            }
        } catch (RuntimeException | Error e) {
            // The executor ignores how this ends.
            log.error("the order of a reader cannot be followed", e);
        } finally {
            isHandling.set(false);
        }
        if (!queue.isEmpty()) {
            handleSoon();
        }
    }

    private void handle(Ended file) {
        try {
            Followed goesOn = goesOn(file);
            if (goesOn == null && file.hasNeighbour) {
                begin(file);
            } else if (goesOn != null) {
                followed.remove(goesOn);
                followed.add(0, goesOn);
                if (goesOn.reader != null) {
                    goesOn.reader.goTo(file.inode);
                }
                if (!file.isLong && goesOn.lacksReader()) {
                    pause = 0;
                    start(goesOn);
                }
            }
        } catch (IOException e) {
            log.debug("a reader of a tree can't be followed; it gets the error when it reads there", e);
        }
    }

    private @Nullable Followed goesOn(Ended file) throws IOException {
        files++;
        if (followed.removeIf(one -> !one.trail.isProven() && files - one.usedAt > MOST_OTHERS)) {
            noteVain();
        }
        // Where two readers have a file among their next ones, it is that of the reader which is nearer.
        List<Followed> nearestFirst = new ArrayList<>(followed);
        nearestFirst.sort(Comparator.comparingInt(one -> one.trail.distance(file.inode)));
        for (Followed one : nearestFirst) {
            if (one.trail.goTo(file.folder, file.inode, !file.isLong)) {
                one.usedAt = files;
                return one;
            }
        }
        return null;
    }

    /** Notes that a trail led to nothing. */
    private void noteVain() {
        pause = Math.min(MAX_PAUSE, 2 * pause + 1);
        pairsToLeave.set(pause);
    }

    private void begin(Ended file) throws IOException {
        if (isLeft()) {
            return;
        }
        TreeTrail trail = new TreeTrail(names, file.folder, file.inode, streams.mostTrailBytes());
        if (!trail.isFollowed()) {
            noteVain();
            return;
        }
        if (followed.size() == MAX_READERS) {
            Followed left = leastWanted();
            followed.remove(left);
            stop(left);
            if (!left.trail.isProven()) {
                noteVain();
            }
        }
        followed.add(0, new Followed(trail, files));
    }

    /** Gives trails up while they take more memory than they may: those of readers in the largest folders. */
    private void boundTrails() {
        long bytes = followed.stream().mapToLong(one -> one.trail.heapBytes()).sum();
        while (bytes > streams.mostTrailBytes()) {
            Followed left = leastWanted();
            bytes -= left.trail.heapBytes();
            followed.remove(left);
            stop(left);
            noteVain();
        }
    }

    /** Returns what gives way to another trail: one that is not proven if there is one, of these the one used first. */
    private Followed leastWanted() {
        Followed last = followed.get(followed.size() - 1);
        return followed.stream()
                .filter(one -> !one.trail.isProven())
                .reduce((sooner, later) -> later)
                .orElse(last);
    }

    private void start(Followed proven) throws IOException {
        stop(proven);
        ParkedChunks parked = streams.tryJoin(proven.credit);
        if (parked == null) {
            return;
        }
        try {
            TreeReader reader = new TreeReader(streams, recipes, proven.trail.walk(), proven.trail.top(), parked);
            proven.reader = reader;
            proven.top = proven.trail.top();
            List<TreeReader> more = new ArrayList<>(readers);
            more.add(reader);
            readers = List.copyOf(more);
            reader.begin();
        } catch (IOException | RuntimeException e) {
            streams.close(parked);
            throw e;
        }
    }

    private void stop(Followed one) {
        if (one.reader != null) {
            List<TreeReader> others = new ArrayList<>(readers);
            others.remove(one.reader);
            readers = List.copyOf(others);
            one.reader.close(streams);
            one.reader = null;
        }
    }

    /** Forgets readers that have read nothing for some seconds: then files that are read cost nothing here. */
    void tidy() {
        synchronized (followed) {
            for (Followed one : List.copyOf(followed)) {
                if (one.usedAt == one.wasUsedAt) {
                    followed.remove(one);
                    stop(one);
                }
                one.wasUsedAt = one.usedAt;
            }
            areAny = !followed.isEmpty();
        }
    }
}
