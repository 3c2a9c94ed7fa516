package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.sdfs.restore.RestoreStatus;
import org.opendedup.sar.sdfs.restore.TreeRestore;

/** A job that restores a file or folder. */
final class RestoreJob implements BackgroundJob {
    private final ServedPaths paths;
    private final String path;
    private final TreeRestore restore;

    RestoreJob(ServedPaths paths, String path, Path target) throws IOException {
        this.paths = paths;
        this.path = path;
        restore = new TreeRestore(paths.volume(), path, target);
    }

    @Override
    public void run() throws IOException {
        try {
            paths.mount().writeBack();
        } catch (IOException e) {
            restore.notStored(e);
        }
        boolean done = new VolumePaths(paths.volume()).use(path, inode -> {
            restore.run(inode);
            return true;
        });
        assert done;
    }

    @Override
    public void stop() {
        restore.stop();
    }

    @Override
    public void abandon() {
        restore.abandon();
    }

    @Override
    public Map<String, Object> report() {
        return report(restore.status());
    }

    /** Returns a status as JSON, with stable keys. */
    static Map<String, Object> report(RestoreStatus status) {
        var report = new LinkedHashMap<String, Object>();
        report.put("phase", status.phase().name().toLowerCase(Locale.ROOT));
        report.put("entries", status.entries());
        report.put("bytes", status.bytes());
        report.put("bytesDone", status.bytesWritten());
        report.put("bytesResumed", status.bytesResumed());
        report.put("damagedPlaces", status.damagedPlaces());
        report.put("damages", status.damages());
        report.put("filesMissing", status.filesMissing());
        report.put("filesChanging", status.filesChanging());
        report.put("attributesLost", status.attributesLost());
        report.put("entriesLost", status.entriesLost());
        report.put("losses", status.losses());
        if (status.notStored() != null) {
            report.put("notStored", status.notStored());
        }
        report.put("seconds", status.seconds());
        return report;
    }
}
