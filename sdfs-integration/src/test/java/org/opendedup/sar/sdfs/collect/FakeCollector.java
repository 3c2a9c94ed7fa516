package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.Pace;

/** A collector with invented figures, all different. Records what it was asked for. */
public final class FakeCollector implements CollectionSource {
    private static final int MIB = 1 << 20;

    /** What each collection was asked for, in order. */
    public final List<CollectionLimits> asked = new CopyOnWriteArrayList<>();

    /** True while a collection, when it is half done, goes on only to see whether it is stopped. */
    public volatile boolean endless;

    /** What the next collection fails with. */
    public volatile @Nullable IOException failure;

    /** Containers that the next collection cannot read, and bytes that a crash has left for it. */
    public volatile long unreadable;

    /** True if the volume collects by itself. */
    public volatile boolean diskFull;

    private final Pace pace = new Pace();

    @Override
    public CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        asked.add(limits);
        IOException broken = failure;
        if (broken != null) {
            throw broken;
        }
        do {
            if (!progress.collected(50L * MIB, 100L * MIB, 30L * MIB)) {
                throw new InterruptedIOException("stopped");
            }
            Thread.onSpinWait();
        } while (endless);
        if (limits.dryRun()) {
            return new CollectionReport(1000, 4000L * MIB, 400L * MIB, 25, 100L * MIB, 0, 0, 0, 0, 0, 0, 117L * MIB);
        }
        return new CollectionReport(
                1000,
                4000L * MIB,
                400L * MIB,
                25,
                100L * MIB,
                15,
                10,
                12L * MIB,
                88L * MIB,
                2L * unreadable * MIB,
                unreadable,
                117L * MIB);
    }

    @Override
    public Pace pace() {
        return pace;
    }

    @Override
    public boolean isRunning() {
        return diskFull;
    }
}
