package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.sdfs.restore.RestoreStatus;
import org.opendedup.sar.sdfs.restore.TreeRestore;

/** Restores a file or folder. */
record RestoreWork(ServedPaths paths, String path, TreeRestore restore)
        implements RunningJob.Work<Map<String, Object>> {
    @Override
    public Map<String, Object> run(RunningJob<Map<String, Object>> job) throws IOException {
        job.reports(() -> report(restore.status()));
        try {
            paths.mount().writeBack();
        } catch (IOException e) {
            restore.notStored(e);
        }
        return new VolumePaths(paths.volume()).use(path, inode -> {
            restore.run(inode);
            return report(restore.status());
        });
    }

    @Override
    public void stop() {
        restore.stop();
    }

    @Override
    public void abandon() {
        restore.abandon();
    }

    /** Returns a status as JSON, with stable keys. */
    static Map<String, Object> report(RestoreStatus status) {
        Map<String, Object> report = new LinkedHashMap<>(Json.values(status));
        report.put("phase", status.phase().name().toLowerCase(Locale.ROOT));
        report.put("bytesDone", report.remove("bytesWritten"));
        if (status.notStored() == null) {
            report.remove("notStored");
        }
        return report;
    }
}
