package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * The folder {@value #NAME} in a metadata folder: what a check sorts, and the copy of the metadata that the check of a
 * volume in use reads. It is deleted at the end of the check; what a crash left, when the next one begins and when the
 * volume is opened.
 */
final class CheckFolder implements Closeable {
    private static final String NAME = "check";

    private final Path path;
    private final Device device;

    private CheckFolder(Path path, Device device) {
        this.path = path;
        this.device = device;
    }

    /** @param metadata the metadata folder; no other check uses it */
    static CheckFolder make(Path metadata) throws IOException {
        removeLeftover(metadata);
        Path path = metadata.resolve(NAME);
        PrivateFiles.createFolders(path.resolve("scratch"));
        return new CheckFolder(path, FileDevice.of(metadata));
    }

    /** Deletes what an interrupted check left; does nothing if there is nothing. */
    static void removeLeftover(Path metadata) throws IOException {
        PrivateFiles.deleteFolder(metadata.resolve(NAME));
    }

    /** Returns where a copy of the metadata is made; nothing is there. */
    Path cut() {
        return path.resolve("cut");
    }

    /**
     * Returns where the check sorts. It leaves the room that the volume needs.
     *
     * @param memoryBytes see {@link Scratch#memoryBytes}
     */
    Scratch scratch(long memoryBytes) throws IOException {
        return new Scratch(
                FileDirectory.open(path.resolve("scratch")),
                () -> {
                    try {
                        DeviceSpaces.requireRoomForCopy(device, 0);
                    } catch (NoSpaceException e) {
                        throw new NoSpaceException("the check has too little room in " + path
                                + " for sorting, about 40 bytes for each reference: " + e.getMessage());
                    }
                },
                memoryBytes);
    }

    @Override
    public void close() throws IOException {
        PrivateFiles.deleteFolder(path);
    }
}
