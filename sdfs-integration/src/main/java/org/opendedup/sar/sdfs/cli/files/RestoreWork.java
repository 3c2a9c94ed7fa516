package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.sdfs.restore.TreeRestore;

/** Restores a file or folder. */
record RestoreWork(ServedPaths paths, String path, TreeRestore restore)
        implements RunningJob.Work<Map<String, Object>> {
    @Override
    public Map<String, Object> run(RunningJob<Map<String, Object>> job) throws IOException {
        job.reports(() -> Json.values(restore.status()));
        try {
            paths.cache().writeBack();
        } catch (IOException e) {
            restore.notStored(e);
        }
        return new VolumePaths(paths.volume()).use(path, inode -> {
            restore.run(inode);
            return Json.values(restore.status());
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
}
