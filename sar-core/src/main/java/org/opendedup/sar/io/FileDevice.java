package org.opendedup.sar.io;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A mounted file system.
 *
 * @param number by which the kernel tells it from others
 */
record FileDevice(Path folder, long number) implements Device {
    @Override
    public long usableBytes() throws IOException {
        return whole().getUsableSpace();
    }

    @Override
    public long totalBytes() throws IOException {
        return whole().getTotalSpace();
    }

    /** Asks the kernel for this one file system; a file store would look it up among all that are mounted. */
    private File whole() throws IOException {
        File file = folder.toFile();
        if (file.getTotalSpace() == 0) {
            throw new IOException(folder + ": the file system does not tell how much space it has");
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
