package org.opendedup.sar.hot;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.hot.copies.SsdHealth;
import org.opendedup.sar.io.SystemError;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.OfferListener;
import org.opendedup.sar.ssd.PromotionTarget;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.SsdWriteException;
import org.opendedup.sar.ssd.StoreMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the attached SSD of a volume: opens and closes it, watches for failures, and stops using it when it fails.
 * For the promotion it is one fixed target, whichever SSD is attached. Safe for use by many threads.
 *
 * <p>It has two locks. {@link #changes} admits one administrator's command at a time, and may be held while the SSD is
 * busy. The monitor guards the state; no thread waits for anything while it holds the monitor. So a failing SSD can be
 * reported while it is being closed.
 */
final class SsdLifecycle implements PromotionTarget, SsdHealth, Closeable {
    /** The reason of a detachment that an administrator requested. */
    static final String ON_REQUEST = "an administrator detached it";

    private static final Logger log = LoggerFactory.getLogger(SsdLifecycle.class);

    /** Failures, without a successful read between them, after which the SSD counts as broken. */
    static final int MOST_FAILURES_IN_A_ROW = 10;
    /** Write failures, without a record written between them, after which the SSD counts as taking no writes. */
    static final int MOST_WRITE_FAILURES_IN_A_ROW = 3;
    /** Pause in promotion after an SSD took no writes; then writing is tried again. */
    static final Duration WRITE_PAUSE = Duration.ofMinutes(1);
    /** Time limit for inspecting, opening or closing an SSD; one that needs longer counts as hung. */
    static final Duration LIMIT = Duration.ofSeconds(30);

    private final AttachedSsd.Opener opener;
    private final Timeline timeline;
    private final String name;
    private final Runnable makeRoom;
    private final LongSupplier nanoClock;
    private final TimeLimit timeLimit;
    private final SsdCloser closer;
    private final Object changes = new Object();

    private volatile @Nullable AttachedSsd attached;
    /** Whether chunks are offered to {@link #attached}. */
    private volatile boolean writable;
    /** Failures since the last successful read. */
    private volatile int failuresInARow;

    private SsdState state;
    private String reason = "";
    private @Nullable Path location;
    /** Why the SSD is not used for reads at the moment; null if it is used. */
    private @Nullable String suspension;

    private long writeAgainNanos;
    private long writtenBeforePause;
    /** Counters of the SSDs that were in use before, and are closed. */
    private SsdLogStatistics earlier = SsdLogStatistics.NONE;
    /** SSDs that are being closed: what they have accepted is still written. */
    private final Set<AttachedSsd> closing = Collections.newSetFromMap(new IdentityHashMap<>());

    private Consumer<SsdEvent> listener = event -> {};
    private OfferListener offers = OfferListener.NONE;
    private boolean closed;

    /**
     * @param location folder on the SSD; null if the volume has none
     * @param makeRoom see {@link SsdStore#open}
     * @param nanoClock clock in nanoseconds, as {@link System#nanoTime}
     * @param limit longest wait for an SSD that is opened or closed
     */
    SsdLifecycle(
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
        closer = new SsdCloser(name, limit, this::noteClosed);
        state = location == null ? SsdState.NONE : SsdState.DETACHED;
    }

    /** Returns the SSD in use, or null. */
    @Nullable
    AttachedSsd attached() {
        return attached;
    }

    /** Returns the statistics of the log on the SSD in use, with the counters of those before it. */
    synchronized SsdLogStatistics logStatistics() {
        SsdLogStatistics all = earlier;
        for (AttachedSsd ssd : closing) {
            all = ssd.statistics().after(all);
        }
        AttachedSsd ssd = attached;
        return (ssd == null ? SsdLogStatistics.NONE : ssd.statistics()).after(all);
    }

    private synchronized void noteClosed(AttachedSsd ssd) {
        if (closing.remove(ssd)) {
            earlier = ssd.statistics().after(earlier);
        }
    }

    synchronized SsdState state() {
        return suspension != null && attached != null ? SsdState.SUSPENDED : state;
    }

    /** Returns why the state is not ONLINE; if it is, what an administrator should know, or an empty string. */
    synchronized String reason() {
        return suspension != null && attached != null ? suspension : reason;
    }

    synchronized @Nullable Path location() {
        return location;
    }

    synchronized void listen(Consumer<SsdEvent> receiver) {
        listener = receiver;
    }

    /** Sets the listener for the outcome of chunks that an SSD accepted. To be called before an SSD is opened. */
    synchronized void listenToOffers(OfferListener receiver) {
        offers = receiver;
    }

    /**
     * Opens the SSD of a volume that is being mounted. If anything is wrong with the SSD, the volume is mounted without
     * it. An empty folder is not the SSD of a volume that has been in use: most likely its disk is not mounted there,
     * so the folder must not be filled.
     *
     * @param memory heap that the SSD may use
     */
    void openAtMount(long capacityBytes, StoreMemory memory) {
        Path place = location();
        if (place == null) {
            return;
        }
        synchronized (changes) {
            try {
                if (timeLimit.call("looking at " + place, () -> SsdStore.isMissingOrEmpty(place), found -> {})) {
                    giveUp(SsdState.DETACHED, "there is nothing at " + place + "; is its disk not mounted?", null);
                } else {
                    open(place, capacityBytes, memory);
                }
            } catch (IOException e) {
                giveUp(SsdState.FAILED, cannotBeUsed(place, e), null);
            } catch (RuntimeException e) {
                giveUp(SsdState.FAILED, cannotBeUsed(place, e), e);
            }
        }
    }

    private static String cannotBeUsed(Path place, Exception why) {
        return "the SSD at " + place + " can't be used: " + why.getMessage();
    }

    private void open(Path place, long capacityBytes, StoreMemory memory) throws IOException {
        Failures failures = new Failures();
        AttachedSsd opened = timeLimit.call(
                "opening the SSD at " + place,
                () -> opener.open(place, timeline, capacityBytes, memory, makeRoom, failures),
                late -> {
                    opener.closed();
                    closer.start(late);
                });
        synchronized (this) {
            location = place;
            state = SsdState.ONLINE;
            reason = "";
            failuresInARow = 0;
            suspension = null;
            writable = true;
            opened.listen(offers);
            attached = opened;
            failures.ssd = opened;
        }
        if (opened.isReadOnly()) {
            // The kernel's wording, as the first failed write would report it.
            pauseWriting(opened, "Read-only file system");
        }
    }

    /** See {@link HotChunks#attach}. */
    void attach(Path place, long capacityBytes, StoreMemory memory) throws IOException {
        synchronized (changes) {
            checkOpen();
            // Checked while the SSD in use is still attached.
            timeLimit.call("looking at " + place, () -> claim(place), claimed -> {});
            detachNow("another SSD was to be attached");
            closer.awaitLast();
            try {
                open(place, capacityBytes, memory);
            } catch (IOException e) {
                giveUp(SsdState.DETACHED, "the SSD at " + place + " could not be attached: " + e.getMessage(), null);
                throw e;
            }
            log.info("{}: the SSD at {} is attached", name, place);
            if (state() == SsdState.ONLINE) {
                report(new SsdEvent(SsdState.ONLINE, "the SSD at " + place + " is attached"));
            }
        }
    }

    private Path claim(Path place) throws IOException {
        opener.claim(place, timeline.current().volume());
        return place;
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException("the volume is being closed");
        }
    }

    /** See {@link HotChunks#detach}. */
    void detach() throws IOException {
        synchronized (changes) {
            checkOpen();
            detachNow(ON_REQUEST);
        }
    }

    private void detachNow(String why) throws IOException {
        AttachedSsd ssd;
        synchronized (this) {
            ssd = take();
            if (state != SsdState.NONE) {
                state = SsdState.DETACHED;
                reason = why;
            }
        }
        if (ssd != null) {
            log.info("{}: the SSD at {} is detached", name, location());
            report(new SsdEvent(SsdState.DETACHED, "the SSD at " + location() + " is detached"));
            closer.close(ssd, location());
        }
    }

    /** Stops using the SSD; the caller closes it. */
    private @Nullable AttachedSsd take() {
        AttachedSsd ssd = attached;
        attached = null;
        writable = false;
        if (ssd != null) {
            closing.add(ssd);
            opener.closed();
        }
        return ssd;
    }

    /** Changes the capacity of the SSD in use, if there is one. */
    void resize(long capacityBytes) {
        AttachedSsd ssd = attached;
        if (ssd != null) {
            ssd.resize(opener.bound(capacityBytes));
        }
    }

    /** Runs the volume without an SSD until one is attached: logs one warning, sends one event. */
    private void giveUp(SsdState to, String why, @Nullable Throwable cause) {
        synchronized (this) {
            state = to;
            reason = why;
        }
        warn(to, why, cause);
    }

    private void warn(SsdState to, String why, @Nullable Throwable cause) {
        log.warn("{}: {}; the volume continues without it", name, why, cause);
        report(new SsdEvent(to, why + "; the volume continues without it"));
    }

    private void report(SsdEvent event) {
        Consumer<SsdEvent> receiver;
        synchronized (this) {
            receiver = listener;
        }
        receiver.accept(event);
    }

    /** Receives the failed accesses of one SSD; ignores them once that SSD is no longer in use. */
    private final class Failures implements Consumer<IOException> {
        private volatile @Nullable AttachedSsd ssd;
        private final AtomicBoolean wrongBytesReported = new AtomicBoolean();
        /** Used by the writing thread only. */
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
                if (wrongBytesReported.compareAndSet(false, true)) {
                    reportWrongBytes(mine, failure);
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

    /**
     * Recognizes ENOSPC, EDQUOT and EROFS by their messages: neither java.nio nor RocksDB passes on the error number.
     */
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
            first = state != SsdState.READ_ONLY;
            state = SsdState.READ_ONLY;
            why = "the SSD at " + location + " accepts no writes: " + failure;
            reason = why;
        }
        if (first) {
            log.warn("{}: {}; copies are still read; nothing is promoted", name, why);
            report(new SsdEvent(SsdState.READ_ONLY, why + "; copies are still read; nothing is promoted"));
        }
    }

    /** Reports the first wrong record of an SSD; further ones are only counted. */
    private void reportWrongBytes(AttachedSsd ssd, IOException failure) {
        String why;
        synchronized (this) {
            if (ssd != attached) {
                return;
            }
            why = "the SSD at " + location + " returned wrong bytes, which were not used: " + failure.getMessage()
                    + "; after a power failure this is expected, otherwise do not trust the SSD";
            if (reason.isEmpty()) {
                reason = why;
            }
        }
        log.warn("{}: {}", name, why);
        report(new SsdEvent(state(), why));
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
            why = "the SSD at " + location + " failed too often; last error: " + failure.getMessage();
            state = SsdState.FAILED;
            reason = why;
        }
        warn(SsdState.FAILED, why, null);
        closer.start(ssd);
    }

    @Override
    public void onGoodRead() {
        if (failuresInARow != 0) {
            synchronized (this) {
                failuresInARow = 0;
            }
        }
    }

    @Override
    public void onSuspended(Duration pause) {
        boolean first;
        synchronized (this) {
            first = suspension == null;
            suspension =
                    "the SSD at " + location + " responds too slowly; it is tried again in " + pause.toSeconds() + " s";
        }
        if (first) {
            log.warn("{}: {}; until then all chunks are read from home", name, reason());
            report(new SsdEvent(SsdState.SUSPENDED, reason() + "; until then all chunks are read from home"));
        }
    }

    @Override
    public void onResumed() {
        synchronized (this) {
            if (suspension == null) {
                return;
            }
            suspension = null;
        }
        log.info("{}: the SSD at {} responds in time again", name, location());
        report(new SsdEvent(state(), "the SSD at " + location() + " responds in time again"));
    }

    @Override
    public boolean isAvailable() {
        return writable || isWritingTriedAgain();
    }

    /**
     * Returns whether writing may be tried again after the pause; sets the state to ONLINE after the first successful
     * write.
     */
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
            state = SsdState.ONLINE;
            reason = "";
        }
        log.info("{}: the SSD at {} accepts writes again", name, location());
        report(new SsdEvent(SsdState.ONLINE, "the SSD at " + location() + " accepts writes again"));
        return true;
    }

    @Override
    public boolean contains(long chunkId) {
        AttachedSsd ssd = attached;
        return ssd != null && ssd.contains(chunkId);
    }

    @Override
    public boolean hasQueueRoom() {
        AttachedSsd ssd = attached;
        return ssd != null && ssd.hasQueueRoom();
    }

    @Override
    public OfferAnswer offer(
            long chunkId,
            int fingerprintPrefix,
            int count,
            int saving,
            Cause cause,
            byte[] data,
            int offset,
            int length) {
        AttachedSsd ssd = attached;
        return ssd == null || !isAvailable()
                ? OfferAnswer.UNAVAILABLE
                : ssd.offer(chunkId, fingerprintPrefix, count, saving, cause, data, offset, length);
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        AttachedSsd ssd = attached;
        if (ssd != null) {
            ssd.noteWanted(chunkId, count, saving);
        }
    }

    /** Closes the SSD. Idempotent. An SSD that hangs or fails now causes only a log line. */
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
                    closer.close(ssd, location());
                } catch (IOException e) {
                    log.warn("{}: {}", name, e.getMessage());
                }
            }
        }
    }
}
