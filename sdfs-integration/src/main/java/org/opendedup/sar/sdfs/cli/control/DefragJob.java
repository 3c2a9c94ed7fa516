package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.volume.Defragmentation;
import org.opendedup.sar.volume.Defragmentation.Limits;

/** A job that defragments one file. */
final class DefragJob implements BackgroundJob, Defragmentation.Progress {
    private final ServedPaths paths;
    private final String path;
    private final DiskModel disk;
    private final Limits limits;
    private final long startNanos = System.nanoTime();
    private volatile boolean stopping;
    private volatile long bytes;
    private volatile long ofBytes;
    private volatile @Nullable Defragmentation result;

    DefragJob(ServedPaths paths, String path, DiskModel disk, Limits limits) {
        this.paths = paths;
        this.path = path;
        this.disk = disk;
        this.limits = limits;
    }

    @Override
    public void run() throws IOException {
        result = paths.use(path, inode -> paths.volume().maintenance().defragment(inode, disk, limits, this));
        checkStopped();
    }

    @Override
    public boolean rewritten(long done, long of) {
        bytes = done;
        ofBytes = of;
        return !stopping;
    }

    @Override
    public void checkStopped() throws InterruptedIOException {
        if (stopping) {
            throw new InterruptedIOException("stopped");
        }
    }

    @Override
    public void stop() {
        stopping = true;
    }

    @Override
    public Map<String, Object> report() {
        var report = new LinkedHashMap<String, Object>();
        report.put("bytesDone", bytes);
        report.put("bytes", ofBytes);
        report.put("seconds", (System.nanoTime() - startNanos) / 1e9);
        Defragmentation done = result;
        if (done != null) {
            report.put("sparseContainers", done.sparseContainers());
            report.put("wantedBytes", done.wantedBytes());
            report.put("rewrittenChunks", done.rewrittenChunks());
            report.put("rewrittenBytes", done.rewrittenBytes());
            report.put("unreadableChunks", done.unreadableChunks());
            report.put("before", FragmentationReport.of(done.before(), disk));
            report.put("after", FragmentationReport.of(done.after(), disk));
        }
        return report;
    }
}
