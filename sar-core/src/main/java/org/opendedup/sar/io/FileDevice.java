package org.opendedup.sar.io;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A mounted file system.
 *
 * @param folder a folder on it
 * @param number the kernel's device number, which distinguishes it from other file systems
 */
public record FileDevice(Path folder, long number) implements Device {
    /** Returns the device of an existing folder. */
    public static FileDevice of(Path folder) throws IOException {
        return new FileDevice(folder, ((Number) Files.getAttribute(folder, "unix:dev")).longValue());
    }

    /** Returns the device of a folder, or if there is no such folder, of the place where it would be made. */
    public static FileDevice ofNearest(Path folder) throws IOException {
        Path existing = folder.toAbsolutePath();
        while (existing.getParent() != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        return of(existing);
    }

    @Override
    public long usableBytes() throws IOException {
        return whole().getUsableSpace();
    }

    @Override
    public long totalBytes() throws IOException {
        return whole().getTotalSpace();
    }

    /**
     * Returns the folder as a {@code File}, which asks the kernel about this file system only; a file store would
     * search all mounted file systems.
     */
    private File whole() throws IOException {
        File file = folder.toFile();
        if (file.getTotalSpace() == 0) {
            throw new IOException(folder + ": the file system does not report its space");
        }
        return file;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FileDevice device && device.number == number;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }

    @Override
    public String toString() {
        return folder.toString();
    }
}
