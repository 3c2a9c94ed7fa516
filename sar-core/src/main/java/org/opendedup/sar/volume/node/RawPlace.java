package org.opendedup.sar.volume.node;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.raw.RawFolder;

/** Where the backing files are. The folder is exchanged when the fast tier comes back, or a new one takes its place. */
public final class RawPlace {
    private volatile RawFolder folder;
    private final AnswerLimit limit;
    private final RawSpace space;
    /**
     * Whether anything may have been changed on the fast tier since the last sync of it began. A daemon that was killed
     * leaves what was written and is not durable yet.
     */
    private final AtomicBoolean written = new AtomicBoolean(true);
    /** Number of syncs of the fast tier that began, and of the last one that succeeded. */
    private final AtomicLong begun = new AtomicLong();

    private volatile long synced;
    /** Number of the last sync that failed. */
    private final AtomicLong failed = new AtomicLong(-1);

    public RawPlace(RawFolder folder, AnswerLimit limit, RawSpace space) {
        this.folder = folder;
        this.limit = limit;
        this.space = space;
    }

    public RawSpace space() {
        return space;
    }

    /** For calls of the folder that others must not wait for without end. */
    public AnswerLimit limit() {
        return limit;
    }

    public RawFolder folder() {
        return folder;
    }

    public void setFolder(RawFolder present) {
        folder = present;
    }

    /** Records that bytes, a length, a time or a name on the fast tier may have changed. */
    public void noteWritten() {
        written.set(true);
    }

    public boolean isWritten() {
        return written.get();
    }

    /** Forgets that something was written, because a sync begins. */
    public void takeWritten() {
        written.set(false);
    }

    /** Begins a sync of the fast tier; returns its number. */
    public long beginSync() {
        return begun.incrementAndGet();
    }

    /** Records that a sync succeeded. */
    public void endSync(long number) {
        synced = number;
    }

    /** Records that a sync failed, also if nobody waits for it any more. */
    public void noteSyncFailed(long number) {
        failed.accumulateAndGet(number, Math::max);
    }

    /**
     * Returns whether a sync failed that may have had bytes written when {@link #lastBegun} returned {@code number}:
     * the system may count them as clean, so that no later sync of everything tells that they are lost.
     */
    public boolean hasFailedSince(long number) {
        return failed.get() >= number;
    }

    /** Returns the number of the last sync that began. */
    public long lastBegun() {
        return begun.get();
    }

    /** Returns whether a sync succeeded that began after {@link #lastBegun} returned {@code number}. */
    public boolean isSyncedAfter(long number) {
        return synced > number;
    }
}
