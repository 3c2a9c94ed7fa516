package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.Set;
import org.opendedup.sar.arrange.ChunkReader;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.Joiner;
import org.opendedup.sar.join.KeptChunks;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The exact pass over a volume in use: joins what is stored more than once. Safe for use by many threads; one pass runs
 * at a time, and none beside a collection or an arrangement.
 */
public final class VolumeJoin {
    private final VolumeConfig config;
    private final VolumeContext context;

    VolumeJoin(VolumeConfig config, VolumeContext context) {
        this.config = config;
        this.context = context;
    }

    /**
     * Joins copies of the same content: see {@link Joiner}. What is joined is durable when this returns, and garbage
     * that a collection returns. Ends early if somebody waits for a collection, or the volume is being closed.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it, or the volume was being closed before
     * @throws IOException if no collection may follow, or there is too little room for sorting; the message says why
     */
    public JoinReport run(JoinLimits limits, JoinProgress progress) throws IOException {
        ChunkReader reader = new ChunkReader(context.restore().inBackground());
        return run(limits, progress, chunks -> Set.copyOf(reader.read(chunks).keySet()));
    }

    JoinReport run(JoinLimits limits, JoinProgress progress, KeptChunks keptChunks) throws IOException {
        // It only makes garbage, which no collection would give back.
        context.collector().requireAllowed();
        return context.collector().withoutCollections(others -> {
            try (CheckFolder folder = CheckFolder.forJoining(config.locations().metadata())) {
                Joiner.Parts parts = new Joiner.Parts(
                        context.metadata(),
                        context.containers(),
                        context.collector().uses(),
                        context.disk(),
                        context.index(),
                        context.damaged()::contains,
                        keptChunks,
                        new VolumeFiles(context),
                        folder.directory(),
                        () -> folder.requireRoom("48 bytes for each chunk"),
                        context.lossSample(),
                        context.collector().pace(),
                        context.clock());
                return new Joiner(parts, limits, progress, others).run();
            }
        });
    }

    /** Returns how much is estimated to be stored more than once. */
    public LossSample.Estimate estimate() {
        return context.lossSample().estimate();
    }

    /**
     * Returns whether a pass is worth it that nobody asked for: the index may miss duplicates, and so much is
     * estimated, or nothing is known of what was stored before the volume was opened.
     */
    public boolean isWorthwhile() throws IOException {
        LossSample.Estimate now = estimate();
        long stored = context.metadata().totals().stored().bytes();
        return context.index().exactness() == ChunkIndex.Exactness.NEAR_EXACT
                && stored >= JoinLimits.WORTHWHILE.minBytes()
                && (!now.isWhole() || JoinLimits.WORTHWHILE.areReached(now.bytes(), stored));
    }
}
