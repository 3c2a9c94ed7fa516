package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.raw.FastTier;

/** The raw files of a volume that the kernel serves. */
public final class TierOfVolume implements TierTools {
    /** How long the number of lost files is taken for the present one: counting looks at every raw file. */
    private static final long COUNT_NANOS_MAX = TimeUnit.MINUTES.toNanos(1);

    /** The same if there are some: they may be deleted at any time. */
    private static final long LOST_COUNT_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

    private final Volume volume;
    private final ServedPaths.Cache cache;

    /** Guarded by this. */
    private boolean isCounted;

    /** Guarded by this. */
    private long lostFiles;

    /** Guarded by this. */
    private long countedNanos;

    public TierOfVolume(Volume volume, ServedPaths.Cache cache) {
        this.volume = volume;
        this.cache = cache;
    }

    @Override
    public FastTier.Summary summary() {
        return tier().summary();
    }

    @Override
    public FastTier.Status status() throws IOException {
        return tier().status();
    }

    @Override
    public synchronized long lostFiles() throws IOException {
        long age = System.nanoTime() - countedNanos;
        if (!isCounted || age > (lostFiles == 0 ? COUNT_NANOS_MAX : LOST_COUNT_NANOS_MAX)) {
            lostFiles = tier().lostFiles();
            countedNanos = System.nanoTime();
            isCounted = true;
        }
        return lostFiles;
    }

    @Override
    public List<String> lost() throws IOException {
        return tier().lost();
    }

    @Override
    public Explanation explain(String path) throws IOException {
        return paths().use(path, inode -> {
            if (Modes.isDirectory(volume.attributes(inode).mode())) {
                return new Explanation(tier().newFilesIn(inode), null);
            }
            FastTier.FileStatus file = tier().explain(inode);
            return new Explanation(file.placement(), file);
        });
    }

    @Override
    public Work<Map<String, Object>> migrate(String path, boolean waits) {
        return new TierMigration(paths(), path, waits);
    }

    @Override
    public Work<Map<String, Object>> pin(String path, boolean isPinned) {
        return new TierPinning(paths(), path, isPinned);
    }

    @Override
    public Work<Map<String, Object>> reload(String path) {
        return new TierReload(paths(), path);
    }

    @Override
    public boolean attach(boolean makeNew) throws IOException {
        boolean attached = tier().attach(makeNew);
        synchronized (this) {
            isCounted = false;
        }
        return attached;
    }

    private FastTier tier() {
        return volume.fastTier();
    }

    private ServedPaths paths() {
        return new ServedPaths(volume, cache);
    }
}
