package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.common.NoSpaceException;

/** What a folder lies on: a file system that runs full. Two folders of one file system are on equal devices. */
public interface Device {
    /** Bytes that this user can still write there. */
    long usableBytes() throws IOException;

    /** Bytes it has, used or not. */
    long totalBytes() throws IOException;

    /** Whether something failed because a device, or somebody's share of it, is full. */
    static boolean isFull(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof NoSpaceException || at instanceof IOException e && FileDirectory.isFullDisk(e)) {
                return true;
            }
        }
        return false;
    }

    /** A folder on it, as an administrator would find it; for messages. */
    @Override
    String toString();

    /** The device of an existing folder. */
    static Device of(Path folder) throws IOException {
        return new FileDevice(folder, ((Number) Files.getAttribute(folder, "unix:dev")).longValue());
    }

    /** What a directory is on, going by the directory alone: a device of its own, of the size that is free now. */
    static Device of(Directory directory) throws IOException {
        long now = directory.usableBytes();
        return new Device() {
            @Override
            public long usableBytes() throws IOException {
                return directory.usableBytes();
            }

            @Override
            public long totalBytes() {
                return now;
            }

            @Override
            public String toString() {
                return directory.toString();
            }
        };
    }
}
