package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.io.SystemError;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.SsdWriteException;
import org.opendedup.sar.tier.SsdTier.Event;
import org.opendedup.sar.tier.SsdTier.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SSD of a volume as it comes and goes: opens and closes it, watches how it does, and stops using it when it fails. To the
 * promotion it is a target that follows. Safe for use by many threads.
 *
 * <p>Two locks: {@link #changes} lets one administrator's command at a time through, and may be held while the SSD is busy; the
 * monitor guards the state, and nothing is waited for under it. So a failing SSD can be told of while it is being closed.
 */
final class SsdConnection implements PromotionTarget, SsdHealth, Closeable {
    private static final Logger log = LoggerFactory.getLogger(SsdConnection.class);

    /** So many failures, without one read that succeeded between them, and the SSD counts as broken. */
    static final int MOST_FAILURES_IN_A_ROW = 10;
    /** So many writes, without one record written between them, and the SSD counts as one that takes none. */
    static final int MOST_WRITE_FAILURES_IN_A_ROW = 3;
    /** How long nothing is promoted to an SSD that took no writes, until that is tried again. */
    static final Duration WRITE_PAUSE = Duration.ofMinutes(1);
    /** An SSD that takes longer to be looked at, opened or closed has hung. */
    static final Duration LIMIT = Duration.ofSeconds(30);

    private final AttachedSsd.Opener opener;
    private final Timeline timeline;
    private final String name;
    private final Runnable makeRoom;
    private final LongSupplier nanoClock;
    private final TimeLimit timeLimit;
    private final Object changes = new Object();

    private volatile @Nullable AttachedSsd attached;
    /** Whether {@link #attached} is offered chunks. */
    private volatile boolean writable;
    /** Failures since the last read that succeeded. */
    private volatile int failuresInARow;
    /** The last closing that was begun; null before the first. */
    private volatile @Nullable FutureTask<@Nullable Void> lastClosing;

    private State state;
    private String reason = "";
    private @Nullable Path location;
    /** Why the SSD is not asked for a while; null: it is asked. */
    private @Nullable String suspension;

    private long writeAgainNanos;
    private long writtenBeforePause;
    private Consumer<Event> listener = event -> {};
    private boolean closed;

    /**
     * @param location folder on the SSD; null: the volume has none
     * @param makeRoom see {@link SsdStore#open}
     * @param nanoClock as {@link System#nanoTime}
     * @param limit how long an SSD is waited for that is opened or closed
     */
    SsdConnection(
            @Nullable Path location,
            AttachedSsd.Opener opener,
            Timeline timeline,
            String name,
            Runnable makeRoom,
            LongSupplier nanoClock,
            Duration limit) {
        this.location = location;
        this.opener = opener;
        this.timeline = timeline;
        this.name = name;
        this.makeRoom = makeRoom;
        this.nanoClock = nanoClock;
        timeLimit = new TimeLimit(name + "-ssd", limit);
        state = location == null ? State.NONE : State.DETACHED;
    }

    /** The SSD in use, or null. */
    @Nullable
    AttachedSsd attached() {
        return attached;
    }

    synchronized State state() {
        return suspension != null && attached != null ? State.SUSPENDED : state;
    }

    /** Why the state is not ONLINE, or else what an administrator should know, or an empty string. */
    synchronized String reason() {
        return suspension != null && attached != null ? suspension : reason;
    }

    synchronized @Nullable Path location() {
        return location;
    }

    synchronized void listen(Consumer<Event> toTell) {
        listener = toTell;
    }

    /**
     * Opens the SSD of a volume that is being mounted. Whatever is wrong with it leaves the volume without. An empty folder is no
     * SSD of a volume that has been in use: most likely it is where its disk is not mounted, and it must not be filled.
     *
     * @param maxEntries the most entries of the Map table
     */
    void openAtMount(long capacityBytes, int maxEntries) {
        Path place = location();
        if (place == null) {
            return;
        }
        synchronized (changes) {
            try {
                if (timeLimit.call("looking at " + place, () -> SsdStore.isMissingOrEmpty(place), found -> {})) {
                    giveUp(State.DETACHED, "there is nothing at " + place + "; is its disk not mounted?", null);
                } else {
                    open(place, capacityBytes, maxEntries);
                }
            } catch (IOException e) {
                giveUp(State.FAILED, cannotBeUsed(place, e), null);
            } catch (RuntimeException e) {
                giveUp(State.FAILED, cannotBeUsed(place, e), e);
            }
        }
    }

    private static String cannotBeUsed(Path place, Exception why) {
        return "the SSD at " + place + " can't be used: " + why.getMessage();
    }

    private void open(Path place, long capacityBytes, int maxEntries) throws IOException {
        Failures failures = new Failures();
        AttachedSsd opened = timeLimit.call(
                "opening the SSD at " + place,
                () -> opener.open(place, timeline, capacityBytes, maxEntries, makeRoom, failures),
                tooLate -> startClosing(closing(tooLate)));
        synchronized (this) {
            location = place;
            state = State.ONLINE;
            reason = "";
            failuresInARow = 0;
            suspension = null;
            writable = true;
            attached = opened;
            failures.ssd = opened;
        }
        if (opened.isReadOnly()) {
            // In the kernel's words for it, as the first write would say it.
            pauseWriting(opened, "Read-only file system");
        }
    }

    /** See {@link SsdTier#attach}. */
    void attach(Path place, long capacityBytes, int maxEntries) throws IOException {
        synchronized (changes) {
            checkOpen();
            // Before the one in use is let go for it.
            timeLimit.call("looking at " + place, () -> claim(place), claimed -> {});
            detachNow("another SSD was to be attached");
            awaitLastClosing();
            try {
                open(place, capacityBytes, maxEntries);
            } catch (IOException e) {
                giveUp(State.DETACHED, "the SSD at " + place + " could not be attached: " + e.getMessage(), null);
                throw e;
            }
            log.info("{}: the SSD at {} is attached", name, place);
            if (state() == State.ONLINE) {
                tell(new Event(State.ONLINE, "the SSD at " + place + " is attached"));
            }
        }
    }

    private Path claim(Path place) throws IOException {
        if (!Files.isDirectory(place)) {
            throw new IOException("there is no folder " + place + "; is its disk not mounted?");
        }
        opener.claim(place, timeline.current().volume());
        return place;
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException("the volume is being closed");
        }
    }

    /** See {@link SsdTier#detach}. */
    void detach() throws IOException {
        synchronized (changes) {
            checkOpen();
            detachNow("an administrator detached it");
        }
    }

    private void detachNow(String why) throws IOException {
        AttachedSsd ssd;
        synchronized (this) {
            ssd = take();
            if (state != State.NONE) {
                state = State.DETACHED;
                reason = why;
            }
        }
        if (ssd != null) {
            log.info("{}: the SSD at {} is detached", name, location());
            tell(new Event(State.DETACHED, "the SSD at " + location() + " is detached"));
            close(ssd);
        }
    }

    /** Stops using the SSD; the caller closes it. */
    private @Nullable AttachedSsd take() {
        AttachedSsd ssd = attached;
        attached = null;
        writable = false;
        return ssd;
    }

    /** Closes the SSD, but does not wait for ever. */
    private void close(AttachedSsd ssd) throws IOException {
        FutureTask<@Nullable Void> closing = closing(ssd);
        startClosing(closing);
        try {
            closing.get(timeLimit.limit().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException(
                    "the SSD at " + location() + " did not close within "
                            + timeLimit.limit().toSeconds() + " s",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while closing the SSD at " + location(), e);
        } catch (ExecutionException e) {
            throw new IOException("closing the SSD at " + location() + " failed: " + e.getMessage(), e);
        }
    }

    private FutureTask<@Nullable Void> closing(AttachedSsd ssd) {
        return new FutureTask<>(() -> {
            try {
                ssd.close();
            } catch (IOException | RuntimeException e) {
                log.info("{}: closing the SSD failed: {}", name, e.getMessage());
                throw e;
            }
            return null;
        });
    }

    /** One that failed is closed in the background: the same place must not be opened before that. */
    private void awaitLastClosing() throws IOException {
        FutureTask<@Nullable Void> closing = lastClosing;
        if (closing != null) {
            try {
                closing.get(timeLimit.limit().toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException e) {
                log.info("{}: the SSD before was not closed: {}", name, e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while the SSD before was closed", e);
            }
        }
    }

    private void startClosing(FutureTask<@Nullable Void> closing) {
        lastClosing = closing;
        Thread thread = new Thread(closing, name + "-ssd-close");
        thread.setDaemon(true);
        thread.start();
    }

    /** The volume has no SSD for now: one warning, one event. */
    private void giveUp(State to, String why, @Nullable Throwable cause) {
        synchronized (this) {
            state = to;
            reason = why;
        }
        warn(to, why, cause);
    }

    private void warn(State to, String why, @Nullable Throwable cause) {
        log.warn("{}: {}; the volume goes on without it", name, why, cause);
        tell(new Event(to, why + "; the volume goes on without it"));
    }

    private void tell(Event event) {
        Consumer<Event> toTell;
        synchronized (this) {
            toTell = listener;
        }
        toTell.accept(event);
    }

    /** Told by one SSD of its failed accesses; those of one that is not in use any more concern nobody. */
    private final class Failures implements Consumer<IOException> {
        private volatile @Nullable AttachedSsd ssd;
        private final AtomicBoolean wrongBytesTold = new AtomicBoolean();
        /** For the writing thread. */
        private int writeFailuresInARow;

        private long writtenBeforeFailure;

        @Override
        public void accept(IOException failure) {
            AttachedSsd mine = ssd;
            if (mine == null || mine != attached) {
                return;
            }
            if (takesNoWrites(failure)) {
                pauseWriting(mine, failure.getMessage());
            } else if (failure instanceof SsdWriteException) {
                noteWriteFailure(mine, failure);
            } else if (failure instanceof CorruptionException) {
                if (wrongBytesTold.compareAndSet(false, true)) {
                    tellOfWrongBytes(mine, failure);
                }
            } else {
                noteFailure(mine, failure);
            }
        }

        private void noteWriteFailure(AttachedSsd mine, IOException failure) {
            long written = mine.statistics().writtenRecords();
            writeFailuresInARow = written == writtenBeforeFailure ? writeFailuresInARow + 1 : 1;
            writtenBeforeFailure = written;
            if (writeFailuresInARow >= MOST_WRITE_FAILURES_IN_A_ROW) {
                pauseWriting(mine, failure.getMessage());
            }
        }
    }

    /** By the words for ENOSPC, EDQUOT and EROFS: neither java.nio nor RocksDB hands the number on. */
    private static boolean takesNoWrites(IOException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (cause instanceof NoSpaceException
                    || SystemError.isFullIn(message)
                    || SystemError.READ_ONLY.isIn(message)) {
                return true;
            }
        }
        return false;
    }

    private void pauseWriting(AttachedSsd ssd, @Nullable String failure) {
        String why;
        boolean first;
        synchronized (this) {
            if (ssd != attached) {
                return;
            }
            writable = false;
            writeAgainNanos = nanoClock.getAsLong() + WRITE_PAUSE.toNanos();
            writtenBeforePause = ssd.statistics().writtenRecords();
            first = state != State.READ_ONLY;
            state = State.READ_ONLY;
            why = "the SSD at " + location + " takes no writes: " + failure;
            reason = why;
        }
        if (first) {
            log.warn("{}: {}; what is on it is read, nothing is promoted", name, why);
            tell(new Event(State.READ_ONLY, why + "; what is on it is read, nothing is promoted"));
        }
    }

    /** Once for each SSD: its other wrong records are only counted. */
    private void tellOfWrongBytes(AttachedSsd ssd, IOException failure) {
        String why;
        synchronized (this) {
            if (ssd != attached) {
                return;
            }
            why = "the SSD at " + location + " returned wrong bytes, which were not used: " + failure.getMessage()
                    + "; after a power failure that is nothing new, else the SSD is not to be trusted";
            if (reason.isEmpty()) {
                reason = why;
            }
        }
        log.warn("{}: {}", name, why);
        tell(new Event(state(), why));
    }

    private void noteFailure(AttachedSsd ssd, IOException failure) {
        String why;
        synchronized (this) {
            if (ssd != attached) {
                return;
            }
            if (failuresInARow++ == 0) {
                log.info("{}: an access to the SSD at {} failed: {}", name, location, failure.getMessage());
            }
            if (failuresInARow < MOST_FAILURES_IN_A_ROW) {
                return;
            }
            take();
            why = "the SSD at " + location + " failed too often, at last: " + failure.getMessage();
            state = State.FAILED;
            reason = why;
        }
        warn(State.FAILED, why, null);
        startClosing(closing(ssd));
    }

    @Override
    public void goodRead() {
        if (failuresInARow != 0) {
            synchronized (this) {
                failuresInARow = 0;
            }
        }
    }

    @Override
    public void suspended(Duration pause) {
        boolean first;
        synchronized (this) {
            first = suspension == null;
            suspension =
                    "the SSD at " + location + " answers too slowly; it is tried again in " + pause.toSeconds() + " s";
        }
        if (first) {
            log.warn("{}: {}; all is read from home until then", name, reason());
            tell(new Event(State.SUSPENDED, reason() + "; all is read from home until then"));
        }
    }

    @Override
    public void resumed() {
        synchronized (this) {
            if (suspension == null) {
                return;
            }
            suspension = null;
        }
        log.info("{}: the SSD at {} answers in time again", name, location());
        tell(new Event(state(), "the SSD at " + location() + " answers in time again"));
    }

    @Override
    public boolean isAvailable() {
        return writable || isWritingTriedAgain();
    }

    /** Ends the pause after an SSD took no writes: tries it, and is content once something was written. */
    private boolean isWritingTriedAgain() {
        synchronized (this) {
            AttachedSsd ssd = attached;
            if (ssd == null || nanoClock.getAsLong() - writeAgainNanos < 0) {
                return false;
            }
            if (ssd.statistics().writtenRecords() == writtenBeforePause) {
                return true;
            }
            writable = true;
            state = State.ONLINE;
            reason = "";
        }
        log.info("{}: the SSD at {} takes writes again", name, location());
        tell(new Event(State.ONLINE, "the SSD at " + location() + " takes writes again"));
        return true;
    }

    @Override
    public boolean contains(long chunkId) {
        AttachedSsd ssd = attached;
        return ssd != null && ssd.contains(chunkId);
    }

    @Override
    public OfferAnswer offer(long chunkId, int check, int count, int saving, byte[] data, int offset, int length) {
        AttachedSsd ssd = attached;
        return ssd == null || !isAvailable()
                ? OfferAnswer.UNAVAILABLE
                : ssd.offer(chunkId, check, count, saving, data, offset, length);
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        AttachedSsd ssd = attached;
        if (ssd != null) {
            ssd.noteWanted(chunkId, count, saving);
        }
    }

    /** Idempotent. An SSD that hangs or fails now costs the volume nothing but a line in the log. */
    @Override
    public void close() {
        synchronized (changes) {
            closed = true;
            AttachedSsd ssd;
            synchronized (this) {
                ssd = take();
            }
            if (ssd != null) {
                try {
                    close(ssd);
                } catch (IOException e) {
                    log.warn("{}: {}", name, e.getMessage());
                }
            }
        }
    }
}
