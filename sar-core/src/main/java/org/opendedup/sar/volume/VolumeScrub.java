package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.scrub.Findings;
import org.opendedup.sar.scrub.Place;
import org.opendedup.sar.scrub.ScrubProgress;
import org.opendedup.sar.scrub.ScrubTotals;
import org.opendedup.sar.scrub.Scrubber;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scrubs a volume on request. What is found damaged is marked in the counts at once, so that no new data refers to it.
 * How far the scrub is stays in the metadata: one that was stopped, also by a crash, is continued. Safe for use by many
 * threads.
 */
public final class VolumeScrub {
    private static final Logger log = LoggerFactory.getLogger(VolumeScrub.class);

    /** Time between two records of how far a scrub is, in nanoseconds: so much is verified again after a crash. */
    private static final long RECORD_NS = TimeUnit.SECONDS.toNanos(10);

    private final MetadataStore metadata;
    private final Scrubber.Parts parts;
    private final DamagedFrames damaged;
    private final Committer committer;
    private final Pace pace = new Pace();
    private final ReentrantLock running = new ReentrantLock();

    VolumeScrub(VolumeContext context) {
        metadata = context.metadata();
        damaged = context.damaged();
        committer = context.committer();
        parts = new Scrubber.Parts(
                metadata, context.containers(), context.collector().uses(), context.disk());
    }

    /** Returns the pace of all scrubs of this mount. */
    public Pace pace() {
        return pace;
    }

    /** Returns the scrub that was begun last; null if there was none. */
    public @Nullable ScrubRecord current() throws IOException {
        return metadata.scrub();
    }

    /** Returns the scrub that was completed last; null if there was none. */
    public @Nullable ScrubRecord last() throws IOException {
        return metadata.lastScrub();
    }

    /** Returns when the volume was made. */
    public Instant volumeMade() {
        return Instant.EPOCH.plusNanos(metadata.header().createdNs());
    }

    /**
     * Verifies everything in the containers while the volume is in use: continues a scrub that was stopped, or begins a
     * new one. One scrub runs at a time; a second call waits for the first, and then begins another.
     *
     * @return the record of the complete scrub, which is durable
     * @throws InterruptedIOException if {@code progress} stopped it; the next call continues it
     */
    public ScrubRecord run(ScrubProgress progress) throws IOException {
        running.lock();
        try {
            ScrubRecord before = metadata.scrub();
            boolean goesOn = before != null && !before.isComplete();
            long beganMs = goesOn && before != null ? before.beganMs() : System.currentTimeMillis();
            Place from = goesOn && before != null ? new Place(before.pack(), before.offset()) : Place.BEGIN;
            ScrubTotals totals = goesOn && before != null ? totals(before) : ScrubTotals.NONE;
            if (!goesOn) {
                // Only a container that is complete can be verified whole.
                parts.containers().endAll();
                committer.commit();
            }
            // From now on it goes on by itself after a mount, also if it was held before.
            note(record(beganMs, 0, from, totals));
            long[] recordedNanos = {System.nanoTime()};
            ScrubProgress recording = (verified, rest, next) -> {
                boolean more = progress.verified(verified, rest, next);
                if (!more || System.nanoTime() - recordedNanos[0] > RECORD_NS) {
                    note(record(beganMs, 0, next, verified));
                    recordedNanos[0] = System.nanoTime();
                }
                return more;
            };
            ScrubTotals all = new Scrubber(parts, pace, new Marks(), recording).run(from, totals);
            ScrubRecord complete = record(beganMs, System.currentTimeMillis(), Place.BEGIN, all);
            note(complete);
            committer.commit();
            return complete;
        } finally {
            running.unlock();
        }
    }

    /**
     * Records durably that the scrub that was stopped does not go on by itself. Does nothing if there is none. Waits
     * for the end of a running one.
     */
    public void hold() throws IOException {
        running.lock();
        try {
            ScrubRecord stopped = metadata.scrub();
            if (stopped != null && !stopped.isComplete()) {
                note(stopped.hold());
                committer.commit();
            }
        } finally {
            running.unlock();
        }
    }

    private void note(ScrubRecord record) {
        Lock changes = committer.changes();
        changes.lock();
        try {
            metadata.noteScrub(record);
        } finally {
            changes.unlock();
        }
    }

    /** Returns what a scrub has verified and found, from its record. */
    public static ScrubTotals totals(ScrubRecord record) {
        return new ScrubTotals(
                record.containers(),
                record.bytes(),
                record.chunks(),
                record.damagedFrames(),
                record.damagedContainers(),
                record.contradictions());
    }

    private static ScrubRecord record(long beganMs, long endedMs, Place next, ScrubTotals totals) {
        return new ScrubRecord(
                beganMs,
                endedMs,
                false,
                next.pack(),
                next.offset(),
                totals.containers(),
                totals.bytes(),
                totals.chunks(),
                totals.damagedFrames(),
                totals.damagedContainers(),
                totals.contradictions());
    }

    /** Marks what is found damaged. */
    private final class Marks implements Findings {
        @Override
        public void damagedFrame(long container, int frame, int firstSlot, int endSlot, IOException why)
                throws IOException {
            damaged.found(container, frame, firstSlot, endSlot, why);
        }

        @Override
        public void damagedContainer(long container, IOException why) {
            log.error("the scrub cannot read container {} whole: {}", container, why.getMessage());
        }

        @Override
        public void missingChunk(long container, int slot) throws IOException {
            damaged.found(
                    container,
                    -1,
                    slot,
                    slot + 1,
                    new CorruptionException("container " + container, -1, "a chunk in slot " + slot, "none"));
        }

        @Override
        public void sound(long container, BitSet slots) throws IOException {
            damaged.foundSound(container, slots);
        }

        @Override
        public void contradiction(long container, String sentence) {
            log.error("the scrub found a contradiction: {}", sentence);
        }
    }
}
