package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.sdfs.jmx.FastTierFigures;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.raw.FastTier;

/** Operations on the raw files of a mounted volume. Paths start at the volume's root. */
public class TierTools {
    /**
     * Where the bytes of a file are, or new files of a folder are stored.
     *
     * @param placement where new files of the folder, or of the file's folder, are stored first
     * @param file what is known of a file; null for a folder
     */
    record Explanation(Placement placement, FastTier.@Nullable FileStatus file) {}

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

    public TierTools(Volume volume, ServedPaths.Cache cache) {
        this.volume = volume;
        this.cache = cache;
    }

    /** Returns what is known without a look at the files. */
    public FastTier.Summary summary() {
        return tier().summary();
    }

    /** Returns the state. Looks at all raw files. */
    public FastTier.Status status() throws IOException {
        return tier().status();
    }

    /** Returns the number of files whose bytes are lost; may be the number of a minute ago. */
    public synchronized long lostFiles() throws IOException {
        long age = System.nanoTime() - countedNanos;
        if (!isCounted || age > (lostFiles == 0 ? COUNT_NANOS_MAX : LOST_COUNT_NANOS_MAX)) {
            lostFiles = tier().lostFiles();
            countedNanos = System.nanoTime();
            isCounted = true;
        }
        return lostFiles;
    }

    /** Returns the paths of lost files: at most {@link FastTier#MAX_NAMED}. */
    public List<String> lost() throws IOException {
        return tier().lost();
    }

    /**
     * Explains where a file lies.
     *
     * @throws IOException if there is no such file or folder; names the path
     */
    public Explanation explain(String path) throws IOException {
        return paths().use(path, inode -> {
            if (Modes.isDirectory(volume.attributes(inode).mode())) {
                return new Explanation(tier().newFilesIn(inode), null);
            }
            FastTier.FileStatus file = tier().explain(inode);
            return new Explanation(file.placement(), file);
        });
    }

    /**
     * Returns what migrates a file, or the raw files below a folder.
     *
     * @param waits whether to try files in use again until they are at rest
     */
    public Work<Map<String, Object>> migrate(String path, boolean waits) {
        return new TierMigration(paths(), path, waits);
    }

    /** Returns what pins a file or folder, and the raw files below it, or ends that. */
    public Work<Map<String, Object>> pin(String path, boolean isPinned) {
        return new TierPinning(paths(), path, isPinned);
    }

    /**
     * Returns what brings the files at and below a path that lie in chunks to the SSD.
     *
     * @param waits whether to wait until the copies are there, not only on their way
     */
    public Work<Map<String, Object>> reload(String path, boolean waits) {
        return new TierReload(paths(), path, waits);
    }

    /** See {@link FastTier#attach}. */
    public boolean attach(boolean makeNew) throws IOException {
        boolean attached = tier().attach(makeNew);
        synchronized (this) {
            isCounted = false;
        }
        return attached;
    }

    public final FastTierFigures figures() throws IOException {
        return FastTierFigures.of(summary(), status(), lostFiles());
    }

    private FastTier tier() {
        return volume.fastTier();
    }

    private ServedPaths paths() {
        return new ServedPaths(volume, cache);
    }
}
