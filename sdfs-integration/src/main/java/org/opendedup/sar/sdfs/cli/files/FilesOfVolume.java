package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.sdfs.restore.TreeRestore;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;

/** The file tools of a volume that the kernel serves. Work on a file first makes the kernel write back its cache. */
public record FilesOfVolume(Volume volume, FuseMount mount) implements FileTools {
    private static final String REWRITING = "rewritten bytes";

    @Override
    public FileFragmentation fragmentation(String path, DiskModel disk) throws IOException {
        return paths().use(path, inode -> volume.maintenance().fragmentation(inode, disk));
    }

    @Override
    public Work<Map<String, Object>> defragment(String path, DiskModel disk, Limits limits) {
        return job -> {
            var progress = new Defragmentation.Progress() {
                @Override
                public boolean rewritten(long done, long of) {
                    return job.goesOn(REWRITING, done, of);
                }

                @Override
                public void checkStopped() throws InterruptedIOException {
                    job.checkStopped();
                }
            };
            Defragmentation done =
                    paths().use(path, inode -> volume.maintenance().defragment(inode, disk, limits, progress));
            job.checkStopped();
            return FragmentationReport.of(done, disk);
        };
    }

    @Override
    public Work<Map<String, Object>> restore(String path, Path target) throws IOException {
        return new RestoreWork(paths(), path, new TreeRestore(volume, path, target));
    }

    @Override
    public StoredVolume.Report check(Progress progress) throws IOException {
        return volume.maintenance().check().run(progress);
    }

    @Override
    public List<StreamStatus> readers() {
        return volume.readers();
    }

    @Override
    public DiskStatus disk() {
        return volume.disk();
    }

    private ServedPaths paths() {
        return new ServedPaths(volume, mount);
    }
}
