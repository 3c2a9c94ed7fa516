package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.hot.SsdAudit;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.scrub.Findings;
import org.opendedup.sar.scrub.IndexScrub;
import org.opendedup.sar.scrub.ScrubProgress;
import org.opendedup.sar.scrub.ScrubSource;
import org.opendedup.sar.scrub.Scrubber;
import org.opendedup.sar.scrub.SsdScrub;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.engine.DamagedFrames;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scrubs a volume on request. What is found damaged is marked in the counts at once, so that no new data refers to it.
 * How far the scrub is stays in the metadata: one that was stopped, also by a crash, is continued. Safe for use by many
 * threads.
 */
public final class VolumeScrub implements ScrubSource {
    private static final Logger log = LoggerFactory.getLogger(VolumeScrub.class);

    /** Time between two records of how far a scrub is, in nanoseconds: so much is verified again after a crash. */
    private static final long RECORD_NS = TimeUnit.SECONDS.toNanos(10);

    /** Wrong entries of the index of which each has a line in the log; the others are only counted. */
    private static final int MOST_LINES = 10;

    private final ChunkEngine engine;
    private final MetadataStore metadata;
    private final Scrubber.Parts parts;
    private final @Nullable VolumeCheck references;
    private final DamagedFrames damaged;
    private final Committer committer;
    private final InstantSource clock;
    private final VolumeHeal heal;
    private final MetadataBackups backups;
    private final Pace pace = new Pace();
    private final ReentrantLock running = new ReentrantLock();

    /**
     * @param references compares the references of files; null: the client has them, and nothing is compared
     * @param heal asked for a pass after each scrub that found something damaged
     */
    VolumeScrub(EngineInUse volume, @Nullable VolumeCheck references, VolumeHeal heal, MetadataBackups backups) {
        this.references = references;
        this.heal = heal;
        this.backups = backups;
        engine = volume.engine();
        metadata = volume.metadata();
        damaged = volume.damaged();
        committer = volume.committer();
        clock = engine.clock();
        parts = volume.toScrub();
    }

    /** @throws IOException if no scrub may run, because nothing may be recorded; the message says so */
    @Override
    public void requireAllowed() throws IOException {
        committer.refuseIfReadOnly();
    }

    /** Returns the pace of all scrubs of this mount. */
    @Override
    public Pace pace() {
        return pace;
    }

    /** Returns the scrub that was begun last; null if there was none. */
    @Override
    public @Nullable ScrubRecord current() throws IOException {
        return metadata.scrub();
    }

    /** Returns the scrub that was completed last; null if there was none. */
    @Override
    public @Nullable ScrubRecord last() throws IOException {
        return metadata.lastScrub();
    }

    /** Returns when the volume was made. */
    @Override
    public Instant volumeMade() {
        return Instant.EPOCH.plusNanos(metadata.header().createdNs());
    }

    /**
     * Verifies containers, references of files, copies on the SSD, samples of the index, and the automatic backups of
     * the metadata, while the volume is in use: continues a scrub that was stopped, or begins a new one. One scrub runs
     * at a time; a second call waits for the first, and then begins another.
     *
     * @return the record of the complete scrub, which is durable
     * @throws InterruptedIOException if {@code progress} stopped it; the next call continues it
     */
    @Override
    public ScrubRecord run(ScrubProgress progress) throws IOException {
        requireAllowed();
        running.lock();
        try {
            ScrubRecord before = metadata.scrub();
            if (before == null || before.isComplete()) {
                // Only a container that is complete can be verified whole.
                parts.containers().endAll();
                committer.commit();
                before = new ScrubRecord(clock.millis(), 0, false, ScrubCursor.BEGIN, ScrubTotals.NONE);
            }
            // From now on it goes on by itself after a mount, also if it was held before.
            Recording recording = new Recording(before.beganMs(), before.next(), before.totals(), progress);
            recording.note();
            parts.containers().storeMissing();
            for (ScrubPhase phase : ScrubPhase.values()) {
                if (phase.compareTo(before.next().phase()) >= 0) {
                    recording.ended(verify(phase, recording));
                }
            }
            verifyBackups(recording);
            mendCopy(recording);
            ScrubRecord complete =
                    new ScrubRecord(before.beganMs(), clock.millis(), false, ScrubCursor.BEGIN, recording.totals);
            note(complete);
            damaged.noteMissingPacks(); // One may be back, or may have gone.
            committer.commit();
            if (metadata.totals().stored().damagedChunks() > 0) {
                // Also takes the marks from chunks that are sound: only a pass knows which former places it needs.
                heal.requestAll();
            }
            return complete;
        } finally {
            running.unlock();
        }
    }

    /**
     * Reads the automatic backups of the metadata, which nobody else reads before they are needed. A scrub that is
     * stopped here begins its last phase again. What is found is no damage of the volume: {@link MetadataBackups#look}
     * tells it.
     */
    private void verifyBackups(Recording recording) throws InterruptedIOException {
        orPassOver("the backups of the metadata", () -> backups.scrub(recording::read));
    }

    /** Reads the copy of the metadata in an object store, which this machine does not need as long as it has them. */
    private void mendCopy(Recording recording) throws InterruptedIOException {
        orPassOver("the metadata in the store", () -> {
            List<String> found = metadata.mendCopy(recording::read);
            found.forEach(each -> log.error("the metadata in the store were damaged, and are put again: {}", each));
        });
    }

    private static void orPassOver(String part, Closing.Step work) throws InterruptedIOException {
        try {
            work.run();
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            log.warn("the scrub passes over {}, wholly or from there on: {}", part, e.toString());
        }
    }

    /** Verifies what a phase has to, from the present place on; returns what was verified by then. */
    private ScrubTotals verify(ScrubPhase phase, Recording recording) throws IOException {
        Marks marks = new Marks();
        SsdAudit copies = engine.hot().audit();
        ScrubCursor from = recording.next.phase() == phase ? recording.next : ScrubCursor.beginOf(phase);
        return switch (phase) {
            case CONTAINERS -> {
                recording.laterBytes = copies == null ? 0 : copies.bytes();
                yield new Scrubber(parts, pace, marks, recording).run(from, recording.totals);
            }
            case REFERENCES -> {
                recording.laterBytes = 0;
                long rest = copies == null ? 0 : copies.bytes();
                yield references == null
                        ? recording.totals
                        : new ReferenceScrub(references, pace, recording, rest).run(recording.totals);
            }
            case SSD -> {
                recording.laterBytes = 0;
                yield copies == null
                        ? recording.totals
                        : new SsdScrub(copies, parts, pace, marks, recording).run(from, recording.totals);
            }
            case INDEX ->
                new IndexScrub(engine.index(), parts, pace, marks, recording, recording.beganMs).run(recording.totals);
        };
    }

    /** Records how far a scrub is, at times. */
    private final class Recording implements ScrubProgress {
        private final long beganMs;
        private final ScrubProgress progress;
        private ScrubCursor next;
        private ScrubTotals totals;
        private long recordedNanos;
        /** Bytes that later phases will verify. */
        private long laterBytes;

        Recording(long beganMs, ScrubCursor next, ScrubTotals totals, ScrubProgress progress) {
            this.beganMs = beganMs;
            this.next = next;
            this.totals = totals;
            this.progress = progress;
        }

        @Override
        public boolean verified(ScrubTotals verified, long restBytes, ScrubCursor goesOnAt) {
            boolean isNextPhase = goesOnAt.phase() != next.phase();
            totals = verified;
            next = goesOnAt;
            if (isNextPhase) {
                note();
            }
            boolean more = progress.verified(verified, restBytes + laterBytes, goesOnAt);
            if (!more || System.nanoTime() - recordedNanos > RECORD_NS) {
                note();
            }
            return more;
        }

        boolean goesOn() {
            return verified(totals, 0, next);
        }

        /** Waits for the pace after some bytes of what is not counted. */
        void read(long bytes) throws InterruptedIOException {
            pace.await(bytes, this::goesOn);
            if (!goesOn()) {
                throw new InterruptedIOException("the scrub was stopped");
            }
        }

        void ended(ScrubTotals all) {
            totals = all;
        }

        void note() {
            VolumeScrub.this.note(new ScrubRecord(beganMs, 0, false, next, totals));
            recordedNanos = System.nanoTime();
        }
    }

    /**
     * Records durably that the scrub that was stopped does not go on by itself. Does nothing if there is none. Waits
     * for the end of a running one.
     */
    @Override
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

    /** Marks what is found damaged. */
    private final class Marks implements Findings {
        private long wrongEntries;

        @Override
        public void damagedFrame(long container, int frame, int firstSlot, int endSlot, IOException why)
                throws IOException {
            damaged.found(container, frame, firstSlot, endSlot, why);
        }

        @Override
        public void damagedContainer(long container, IOException why) {
            log.error("the scrub cannot read container {} whole: {}", container, why.getMessage());
            // Its directory may be damaged, which is no chunk.
            heal.request(container);
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
        public void contradiction(long container, String sentence) {
            log.error("the scrub found a contradiction: {}", sentence);
        }

        @Override
        public void wrongEntry(String sentence) {
            if (wrongEntries++ < MOST_LINES) {
                log.warn("the scrub removed a wrong entry of the fingerprint index: {}", sentence);
            }
        }

        @Override
        public void passedOver(String part, String why) {
            log.warn("the scrub passes over {}, wholly or from there on: {}", part, why);
        }
    }
}
