package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.sdfs.restore.RestoreStatus;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;

/** A volume with the files {@code vm/disk.img} and {@link #ODD}. */
public class FakeFileTools extends FileTools {
    /** A name that moves the cursor, and ends a line. */
    public static final String ODD = "vm/a\nb\u001b[31m";

    List<StreamStatus> readers = List.of();
    static final FileFragmentation FRAGMENTATION =
            new FileFragmentation(100 << 20, 12_800, 90 << 20, 40 << 20, 50, 0.25, 40, 80, 120, 150_000_000);

    /** Places that the next restore finds damaged. */
    public List<String> damages = List.of();

    /** What the next restore's destination does not take. */
    public List<String> losses = List.of();
    /** Number of files that a restore tells as missing. */
    public long missing;
    /** Why a restore says that not all is stored. */
    public @Nullable String notStored;

    /** True if the next restore runs until it is stopped. */
    public boolean endless;

    public FakeFileTools() {
        super(null, null, null, "default", () -> null);
    }

    public static boolean isThere(String path) {
        return path.equals("vm/disk.img") || path.equals(ODD);
    }

    @Override
    public FileFragmentation fragmentation(String path, DiskModel disk) throws IOException {
        if (!isThere(path)) {
            throw new IOException(path + " is no file of the volume");
        }
        return FRAGMENTATION;
    }

    @Override
    public Work<Map<String, Object>> defragment(String path, DiskModel disk, Limits limits) {
        long wanted = Math.round(limits.share() * (100 << 20));
        var done = new Defragmentation(FRAGMENTATION, FRAGMENTATION, 40, wanted, 640, 5 << 20, 0);
        return work(path, Json.values(FragmentationReport.Rewritten.of(done, disk)));
    }

    /** What the next check finds. */
    public List<Finding> findings = List.of();

    @Override
    public StoredVolume.Report check(Progress progress) {
        return new StoredVolume.Report(3, findings);
    }

    @Override
    public Work<Map<String, Object>> restore(String path, Path target) {
        return work(
                path,
                Json.values(new RestoreStatus(
                        RestoreStatus.Phase.DONE,
                        7,
                        2000,
                        2000,
                        500,
                        damages.size(),
                        damages,
                        missing,
                        0,
                        losses.size(),
                        0,
                        losses,
                        notStored,
                        1.5)));
    }

    @Override
    public DiskStatus disk() {
        return new DiskStatus(DiskModel.HDD, 1, 1, 2, 0);
    }

    @Override
    public List<StreamStatus> readers() {
        return readers;
    }

    private Work<Map<String, Object>> work(String path, Map<String, Object> report) {
        return job -> {
            fragmentation(path, DiskModel.HDD);
            while (endless) {
                job.checkStopped();
                Thread.onSpinWait();
            }
            return report;
        };
    }
}
