package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.hot.FileExplainer;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jmx.FilePicture;
import org.opendedup.sar.sdfs.jmx.RestoreCacheFigures;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.sdfs.restore.TreeRestore;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeMaintenance;
import org.opendedup.sar.volume.quota.VolumeQuotas;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;
import org.opendedup.sar.volume.stream.StreamKeys;

/** Operations on files of a mounted volume, other than reading and writing. Paths start at the volume's root. */
public class FileTools {
    private final Volume volume;
    private final ServedPaths.Cache cache;
    private final Supplier<HotSettings> settings;
    private final String cachePolicy;
    private final KeySource keys;

    /** Reads what seals the streams of the volume. */
    @FunctionalInterface
    public interface KeySource {
        /** Returns null if the volume is not encrypted. */
        @Nullable
        StreamKeys get() throws IOException;
    }

    /**
     * @param cache what the kernel has not sent yet: work on a file first makes it send that
     * @param settings the parameters of SAR
     * @param cachePolicy policy of the cache of the sequential readers, for people
     * @param keys of streams of snapshots
     */
    public FileTools(
            Volume volume,
            ServedPaths.Cache cache,
            Supplier<HotSettings> settings,
            String cachePolicy,
            KeySource keys) {
        this.keys = keys;
        this.volume = volume;
        this.cache = cache;
        this.settings = settings;
        this.cachePolicy = cachePolicy;
    }

    /**
     * Reports how a file's chunks are spread over containers, including everything written up to now.
     *
     * @throws IOException if there is no such file; names the path
     */
    public FileFragmentation fragmentation(String path, DiskModel disk) throws IOException {
        return paths().use(path, inode -> volume.maintenance().fragmentation(inode, disk));
    }

    /** Returns what rewrites the chunks of a file that lie in sparse containers. */
    public Work<Map<String, Object>> defragment(String path, DiskModel disk, Limits limits) {
        return job -> {
            Defragmentation done =
                    paths().use(path, inode -> volume.maintenance().defragment(inode, disk, limits, job));
            return Json.values(FragmentationReport.Rewritten.of(done, disk));
        };
    }

    /**
     * Returns what restores a file or folder to another file system.
     *
     * @param target an absolute path; see {@link org.opendedup.sar.sdfs.restore.TreeRestore}
     */
    public Work<Map<String, Object>> restore(String path, Path target) throws IOException {
        return new RestoreWork(paths(), path, new TreeRestore(volume, path, target));
    }

    /** Returns what clones a file or folder to a path that must not exist. */
    public Work<Map<String, Object>> cloneTree(String source, String target) throws IOException {
        return new CloneWork(paths(), source, target);
    }

    /** Returns what sends a snapshot. */
    SendWork send(SendWork.Request request) throws IOException {
        return new SendWork(volume, keys.get(), request);
    }

    /**
     * Checks the whole volume.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    public StoredVolume.Report check(Progress progress) throws IOException {
        return volume.maintenance().check().run(progress);
    }

    /** Returns the sequential readers that are currently read ahead. */
    public List<StreamStatus> readers() {
        return volume.readers();
    }

    /** Returns the state of the device that holds the containers, as reads see it. */
    public DiskStatus disk() {
        return volume.disk();
    }

    /** Returns how a file is read, as a picture. */
    public FilePicture picture(String path) throws IOException {
        var rules = new FileExplainer.Rules(
                volume.hot().isConfigured() ? volume.hot()::find : (chunk, into) -> false, settings.get());
        VolumeMaintenance care = volume.maintenance();
        return paths().use(path, inode -> {
            var bounds = new FilePicture.Bounds();
            var unused = care.explain(inode, 0, rules, bounds);
            FilePicture.Grid grid = bounds.grid();
            FileExplanation explained = care.explain(inode, 0, rules, grid);
            return grid.picture(explained, care.fragmentation(inode, FilePicture.DISK));
        });
    }

    /** Returns the cache of the sequential readers. */
    public RestoreCacheFigures restoreCache() throws IOException {
        return RestoreCacheFigures.of(cachePolicy, volume.readers(), volume.statistics());
    }

    /** Returns the limits of users, groups and folders. */
    public VolumeQuotas quotas() {
        return volume.quotas();
    }

    /**
     * Changes the limits of a folder, as {@link VolumeQuotas#setFolder} does.
     *
     * @throws IOException if there is no such folder; names the path
     */
    public QuotaState setFolderQuota(String path, UnaryOperator<QuotaLimits> change, Progress progress)
            throws IOException {
        return new VolumePaths(volume).use(path, inode -> volume.quotas().setFolder(inode, change, progress));
    }

    private ServedPaths paths() {
        return new ServedPaths(volume, cache);
    }
}
