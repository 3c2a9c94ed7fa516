package org.opendedup.sar.sdfs.cli;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.jmx.SarSource;
import org.opendedup.sar.sdfs.jmx.VolumeSource;
import org.opendedup.sar.tier.FileExplanation;
import org.opendedup.sar.tier.FileExplanation.ChunkVisitor;
import org.opendedup.sar.volume.RequestBuffers;

/** Opens a volume and shows it as a file system. The commands' only way to engine and FUSE. */
interface MountService {
    /** The mount option that names the FUSE binding behind this. */
    String BINDING_OPTION = "fuse_binding=";

    /**
     * Checks options before anything is started.
     *
     * @param options as {@code mount -o} takes them, without those of {@link MountHelperOptions}
     * @throws IllegalArgumentException naming one that is not known
     */
    void checkOptions(String options);

    /** What a mount with these options takes of its memory budget for requests. Options as in {@link #checkOptions}. */
    RequestBuffers requestBuffers(String options);

    /**
     * Changes what the kernel itself heeds of the options of a mount: ro and rw, suid, dev, exec, atime, sync and their
     * opposites. All the others are ignored. Options as in {@link #checkOptions}.
     *
     * @throws IOException if the mount cannot be changed, say because files are open for writing that must not be
     */
    void remount(Path mountPoint, String options) throws IOException;

    /** Returns when the kernel serves the mount point from the volume. Options as in {@link #checkOptions}. */
    MountedVolume mount(VolumeDefinition definition, Path mountPoint, String options) throws IOException;

    /** A volume while it is open. Ends in two steps: the mount goes, then the volume is closed. */
    interface MountedVolume extends VolumeSource, Closeable {

        /** The volume's SSD; one that is not there if it was mounted without. */
        SarSource sar();

        /**
         * Explains what the SSD does for a file.
         *
         * @param path from the volume's root, names separated by slashes
         * @param from offset in the file from which its chunks are shown
         * @throws IOException if there is no such file
         */
        FileExplanation explain(String path, long from, ChunkVisitor visitor) throws IOException;

        /** What can be done with single files and folders. */
        FileTools files();

        /** Waits until the file system is no longer mounted, whoever unmounted it. */
        void awaitEnd() throws InterruptedException;

        /**
         * Unmounts, with all that the kernel holds back; {@link #awaitEnd} then returns.
         *
         * @throws IOException if programs use the file system, which then stays mounted
         */
        void unmount() throws IOException;

        /** Ends the mount in bounded time: unmounts or, if programs use the file system, takes it from them. Idempotent. */
        void endMount() throws IOException;

        /** Flushes, commits and closes the volume. Called once, after the mount has ended. */
        @Override
        void close() throws IOException;
    }
}
