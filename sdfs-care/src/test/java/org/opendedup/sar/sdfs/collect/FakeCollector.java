package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.join.FakeJoin;

/** A collector with invented figures, all different. Records what it was asked for. */
public final class FakeCollector implements CollectionSource {
    private static final int MIB = 1 << 20;

    /** What each collection was asked for, in order. */
    public final List<CollectionLimits> asked = new CopyOnWriteArrayList<>();

    /** What each arrangement was asked for, in order. */
    public final List<ArrangementLimits> askedToArrange = new CopyOnWriteArrayList<>();

    /** True while an arrangement, when it is half done, goes on only to see whether it is stopped. */
    public volatile boolean arrangesEndlessly;

    /** True while a collection, when it is half done, goes on only to see whether it is stopped. */
    public volatile boolean endless;

    /** What the next collection fails with. */
    public volatile @Nullable IOException failure;

    /** Why no collection may run. */
    public volatile @Nullable IOException forbidden;

    /** Containers that the next collection cannot read, and bytes that a crash has left for it. */
    public volatile long unreadable;

    /** True if the volume collects by itself. */
    public volatile boolean diskFull;

    /** True if a disk has little room left, and a collection would help it. */
    public volatile boolean worthwhile;

    private volatile CollectionWatcher watcher = limits -> CollectionWatcher.IDLE;

    private final Pace pace = new Pace();

    /** Off, of a volume that writes with zstd:1, and kept nowhere. */
    public static RecompressSetting recompress() {
        var writing = new Compression(Compression.Codec.ZSTD, 1, 64 << 10);
        return new RecompressSetting(RecompressLevel.OFF, writing, level -> {});
    }

    /** Number of times that somebody asked to join what is worth it. */
    public final AtomicInteger askedToJoin = new AtomicInteger();

    /** What moves chunks; nothing is worth to be joined. */
    public Moves moves() {
        return new Moves(this::arrange, new FakeJoin() {
            @Override
            public boolean isWorthwhile() {
                askedToJoin.incrementAndGet();
                return false;
            }
        });
    }

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
            return new CollectionReport(
                    1000,
                    4000L * MIB,
                    400L * MIB,
                    25,
                    100L * MIB,
                    limits.recompressLevel() == 0 ? 0 : 200,
                    800L * MIB,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    117L * MIB);
        }
        return new CollectionReport(
                1000,
                4000L * MIB,
                400L * MIB,
                25,
                100L * MIB,
                limits.recompressLevel() == 0 ? 0 : 200,
                limits.recompressLevel() == 0 ? 0 : 800L * MIB,
                15,
                10,
                limits.recompressLevel() == 0 ? 0 : 180,
                limits.recompressLevel() == 0 ? 0 : 20,
                12L * MIB,
                limits.recompressLevel() == 0 ? 0 : 70L * MIB,
                88L * MIB,
                2L * unreadable * MIB,
                unreadable,
                117L * MIB);
    }

    private ArrangementReport arrange(ArrangementLimits limits, Progress progress) throws IOException {
        askedToArrange.add(limits);
        do {
            progress.at("arranging", 200L * MIB, 800L * MIB);
            Thread.onSpinWait();
        } while (arrangesEndlessly);
        return new ArrangementReport(7, 300L * MIB, 12.5, 4.25, 900, 6L * MIB, 1800, 0, true);
    }

    @Override
    public boolean isWorthwhile() {
        return worthwhile;
    }

    @Override
    public void requireAllowed() throws IOException {
        IOException why = forbidden;
        if (why != null) {
            throw why;
        }
    }

    @Override
    public Pace pace() {
        return pace;
    }

    /** The volume begins a collection because a disk is full; the caller ends it. */
    public CollectionWatcher.Watch fillDisk() {
        diskFull = true;
        return watcher.begun(new CollectionLimits(1, false));
    }

    @Override
    public void watch(CollectionWatcher now) {
        watcher = now;
    }

    @Override
    public boolean isRunning() {
        return diskFull;
    }
}
