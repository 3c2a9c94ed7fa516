package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.raw.BackgroundThrottle;
import org.opendedup.sar.volume.store.CheckFolder;

/**
 * The exact pass over a volume in use: joins what is stored more than once. Safe for use by many threads; one pass runs
 * at a time, and none beside a collection or an arrangement.
 */
public final class VolumeJoin implements JoinSource {
    private final VolumeConfig config;
    private final VolumeContext context;
    private final BackgroundThrottle throttle;

    /**
     * Part of the estimate that a pass is not worth again: what the last one has joined stays in it until a collection
     * removes the copies, and what it did not join is no more next time. In bytes; guarded by this.
     */
    private long dealtWith;

    public VolumeJoin(VolumeConfig config, VolumeContext context) {
        this.config = config;
        this.context = context;
        throttle = new BackgroundThrottle(context::programUse);
    }

    /**
     * Joins copies of the same content: see {@link Joiner}. What is joined is durable when this returns, and garbage
     * that a collection returns. Ends early if somebody waits for a collection, or the volume is being closed.
     *
     * @throws InterruptedIOException if {@code progress} stopped it, or the volume was being closed before
     * @throws IOException if no collection may follow, or there is too little room for sorting; the message says why
     */
    @Override
    public JoinReport run(JoinLimits limits, Progress progress) throws IOException {
        ChunkReader reader = new ChunkReader(context.restore().inBackground());
        JoinReport report =
                run(limits, progress, chunks -> Set.copyOf(reader.read(chunks).keySet()));
        if (report.complete() || !limits.areReached(report.foundBytes(), storedBytes())) {
            synchronized (this) {
                dealtWith = estimate().bytes();
            }
        }
        return report;
    }

    /** Joins as {@link #run}, but more slowly while programs use the volume. For passes that nobody asked for. */
    @Override
    public JoinReport runGivingWay(JoinLimits limits, Progress progress) throws IOException {
        BackgroundThrottle.Piece piece = throttle.begin();
        return run(limits, (stage, done, of) -> {
            piece.next();
            progress.at(stage, done, of);
        });
    }

    /** Returns for how long programs have not used the volume, as seen by calls of this method and by passes. */
    @Override
    public Duration quiet() {
        return Duration.ofNanos(throttle.quietNanos());
    }

    public JoinReport run(JoinLimits limits, Progress progress, KeptChunks keptChunks) throws IOException {
        requireAllowed();
        return context.collector().withoutCollections(() -> progress.at(COMPARING, 0, 0), others -> {
            try (CheckFolder folder = CheckFolder.forJoining(config.locations().metadata())) {
                return new Joiner(
                                context,
                                keptChunks,
                                new Scratch(
                                        folder.directory(),
                                        () -> folder.requireRoom("48 bytes for each chunk"),
                                        Joiner.SORT_BYTES,
                                        config.keys()),
                                limits,
                                progress,
                                others)
                        .run();
            }
        });
    }

    /** @throws IOException if no pass may run: it only makes garbage, which no collection would give back */
    @Override
    public void requireAllowed() throws IOException {
        context.collector().requireAllowed();
    }

    /** Returns how much is estimated to be stored more than once. */
    @Override
    public LossSample.Estimate estimate() {
        return context.lossSample().estimate();
    }

    /**
     * Returns whether a pass is worth it that nobody asked for: the index may miss duplicates, and either so much more
     * is estimated than after the last pass, or nothing is known of what was stored before the volume was opened.
     */
    @Override
    public boolean isWorthwhile() throws IOException {
        LossSample.Estimate now = estimate();
        long more;
        synchronized (this) {
            // Collections have removed copies.
            dealtWith = Math.min(dealtWith, now.bytes());
            more = now.bytes() - dealtWith;
        }
        long stored = storedBytes();
        return context.index().exactness() == ChunkIndex.Exactness.NEAR_EXACT
                && stored >= JoinLimits.WORTHWHILE.minBytes()
                && (!now.isWhole() || JoinLimits.WORTHWHILE.areReached(more, stored));
    }

    private long storedBytes() throws IOException {
        return context.metadata().totals().stored().bytes();
    }
}
