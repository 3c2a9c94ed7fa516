package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.restore.DiskModel;
import org.opendedup.sar.restore.DiskStatus;
import org.opendedup.sar.restore.FileFragmentation;
import org.opendedup.sar.restore.StreamStatus;
import org.opendedup.sar.volume.Defragmentation;

/** What can be done with files of a mounted volume, beside reading and writing them. Paths are from the volume's root. */
interface FileTools {
    /**
     * Looks how a file's chunks are spread over containers, with what was written to it until now.
     *
     * @throws IOException if there is no such file; names the path
     */
    FileFragmentation fragmentation(String path, DiskModel disk) throws IOException;

    /** Rewrites the chunks of a file that lie in sparse containers. */
    BackgroundJob defragment(String path, DiskModel disk, Defragmentation.Limits limits);

    /**
     * Restores a file or folder to another file system.
     *
     * @param target an absolute path; see {@link org.opendedup.sar.sdfs.restore.TreeRestore}
     */
    BackgroundJob restore(String path, Path target) throws IOException;

    /** The readers in sequence that are read ahead for now. */
    List<StreamStatus> readers();

    /** The device that has the containers, as reading finds it. */
    DiskStatus disk();
}
