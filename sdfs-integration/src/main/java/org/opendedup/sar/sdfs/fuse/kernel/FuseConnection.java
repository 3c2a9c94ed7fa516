package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.DeviceNumber;

/**
 * The kernel's side of a mount. It outlives the mount point: after a lazy unmount it exists until the last open file is
 * closed. Meanwhile the mount point may be free, or used by another file system.
 *
 * @param mountPoint where it was mounted
 * @param device device number of the file system
 */
record FuseConnection(Path mountPoint, long device) {

    /** Returns the connection of a mount point. The file system there must answer. */
    static FuseConnection at(Path mountPoint) throws IOException {
        return new FuseConnection(mountPoint, DeviceNumber.of(mountPoint));
    }

    /** Returns whether this file system is still mounted at its mount point. */
    boolean isInPlace() {
        try {
            return DeviceNumber.of(mountPoint) == device;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            // The mount exists but no longer answers.
            return true;
        }
    }

    /**
     * Aborts the connection through the FUSE control file system, which has a switch for the owner of each mount.
     * Programs that use files in it then get errors, and the service ends. Does nothing if the kernel has ended the
     * connection already: another mount may have its number now.
     *
     * @param lives returns whether the kernel still has the connection
     * @throws IOException if the control file system is neither mounted nor can be
     */
    void abort(Libc libc, BooleanSupplier lives) throws IOException {
        try (ControlFileSystem control = ControlFileSystem.open(libc)) {
            abort(control.root(), lives);
        }
    }

    /** @param control the root of the control file system */
    void abort(Path control, BooleanSupplier lives) throws IOException {
        Path file = control.resolve(Long.toString(DeviceNumber.minor(device))).resolve("abort");
        // An open switch stays that of one connection. A connection that lives had its number when it was opened.
        try (OutputStream toggle = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
            if (lives.getAsBoolean()) {
                toggle.write('1');
            }
        } catch (NoSuchFileException e) {
            // The kernel has ended the connection.
        }
    }
}
