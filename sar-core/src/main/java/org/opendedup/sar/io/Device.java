package org.opendedup.sar.io;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.NoSpaceException;

/**
 * The device that a folder lies on: a file system that can become full. Two folders of one file system are on equal
 * devices.
 */
public interface Device {
    /** Returns the bytes that this user can still write there. */
    long usableBytes() throws IOException;

    /** Returns the capacity in bytes, used or not. */
    long totalBytes() throws IOException;

    /** Returns the devices that this one adds up; only itself if it is one. */
    default List<Device> parts() {
        return List.of(this);
    }

    /** Returns whether something failed because a device, or a quota on it, is full. */
    static boolean isFull(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof NoSpaceException || at instanceof IOException e && FullDisk.isCauseOf(e)) {
                return true;
            }
        }
        return false;
    }

    /** Returns a folder on it, as an administrator would find it; for messages. */
    @Override
    String toString();

    /**
     * Returns the device of a directory, known from the directory alone: a separate device, whose capacity is the space
     * that is free now.
     */
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
