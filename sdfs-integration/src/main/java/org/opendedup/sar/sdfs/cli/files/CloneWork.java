package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.volume.clone.CloneReport;
import org.opendedup.sar.volume.clone.TreeClone;

/**
 * Clones a file or folder within the volume.
 *
 * @param target path that must not exist, in a folder that exists
 */
record CloneWork(ServedPaths paths, String source, String target) implements RunningJob.Work<Map<String, Object>> {
    CloneWork {
        if (name(target).isEmpty()) {
            throw new IllegalArgumentException("'" + target + "' has no name for the clone");
        }
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private String folder() {
        return target.substring(0, Math.max(0, target.lastIndexOf('/')));
    }

    @Override
    public Map<String, Object> run(RunningJob<Map<String, Object>> job) throws IOException {
        VolumePaths found = new VolumePaths(paths.volume());
        paths.cache().writeBack();
        return found.use(source, inode -> found.use(folder(), directory -> cloneTo(directory, inode, job)));
    }

    private Map<String, Object> cloneTo(long directory, long inode, RunningJob<Map<String, Object>> job)
            throws IOException {
        TreeClone clone = paths.volume().maintenance().treeClone(job);
        job.reports(() -> Json.values(clone.report()));
        byte[] name = name(target).getBytes(StandardCharsets.UTF_8);
        try {
            CloneReport made = clone.run(inode, directory, name);
            return Json.values(made);
        } catch (PosixException e) {
            if (e.reason() == Reason.EEXIST) {
                throw new IOException(target + " exists; name a new path for the clone", e);
            }
            if (e.reason() == Reason.ENOTDIR) {
                throw new IOException(folder() + " is no folder", e);
            }
            throw e;
        } finally {
            // Also after a failure: the name may be there, and only not be durable.
            paths.cache().forget(directory, name);
        }
    }
}
