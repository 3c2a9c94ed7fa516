package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.volume.rewrite.Defragmentation;

/** Operations on files of a mounted volume, other than reading and writing. Paths start at the volume's root. */
public interface FileTools {
    /**
     * Reports how a file's chunks are spread over containers, including everything written up to now.
     *
     * @throws IOException if there is no such file; names the path
     */
    FileFragmentation fragmentation(String path, DiskModel disk) throws IOException;

    /** Returns what rewrites the chunks of a file that lie in sparse containers. */
    Work<Map<String, Object>> defragment(String path, DiskModel disk, Defragmentation.Limits limits);

    /**
     * Returns what restores a file or folder to another file system.
     *
     * @param target an absolute path; see {@link org.opendedup.sar.sdfs.restore.TreeRestore}
     */
    Work<Map<String, Object>> restore(String path, Path target) throws IOException;

    /**
     * Checks the whole volume.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    StoredVolume.Report check(Progress progress) throws IOException;

    /** Returns the sequential readers that are currently read ahead. */
    List<StreamStatus> readers();

    /** Returns the state of the device that holds the containers, as reads see it. */
    DiskStatus disk();
}
