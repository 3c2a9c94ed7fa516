package org.opendedup.sar.volume.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;

/**
 * A folder in a metadata folder, for what a check or an exact pass sorts, and for the copy of the metadata that the
 * check of a volume in use reads. It is deleted at the end of that; what a crash left, when the next one begins and
 * when the volume is opened.
 */
public final class CheckFolder implements Closeable {
    private static final String CHECK = "check";
    private static final String JOIN = "join";
    private static final String SCRATCH = "scratch";

    private final Path path;
    private final Device device;

    private CheckFolder(Path path, Device device) {
        this.path = path;
        this.device = device;
    }

    /** @param metadata the metadata folder; no other check uses it */
    public static CheckFolder make(Path metadata) throws IOException {
        return make(metadata, CHECK);
    }

    /** As {@link #make(Path)}, for an exact pass; no other one uses the metadata folder. */
    public static CheckFolder forJoining(Path metadata) throws IOException {
        return make(metadata, JOIN);
    }

    private static CheckFolder make(Path metadata, String name) throws IOException {
        Path path = metadata.resolve(name);
        PrivateFiles.deleteFolder(path);
        PrivateFiles.createFolders(path.resolve(SCRATCH));
        return new CheckFolder(path, FileDevice.of(metadata));
    }

    /** Deletes what an interrupted check or pass left; does nothing if there is nothing. */
    public static void removeLeftover(Path metadata) throws IOException {
        PrivateFiles.deleteFolder(metadata.resolve(CHECK));
        PrivateFiles.deleteFolder(metadata.resolve(JOIN));
    }

    /** Returns where a copy of the metadata is made; nothing is there. */
    public Path cut() {
        return path.resolve("cut");
    }

    /**
     * Returns where the check sorts. It leaves the room that the volume needs.
     *
     * @param memoryBytes see {@link Scratch#memoryBytes}
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    public Scratch scratch(long memoryBytes, @Nullable VolumeKeys keys) throws IOException {
        return new Scratch(directory(), () -> requireRoom("about 40 bytes for each reference"), memoryBytes, keys);
    }

    /** Returns the folder in which is sorted. */
    public Directory directory() throws IOException {
        return FileDirectory.open(path.resolve(SCRATCH));
    }

    /**
     * Checks that sorting leaves the room that the volume needs.
     *
     * @param need what sorting takes, for people
     */
    public void requireRoom(String need) throws IOException {
        try {
            DeviceSpaces.requireRoomForCopy(device, 0);
        } catch (NoSpaceException e) {
            throw new NoSpaceException(
                    "there is too little room in " + path + " for sorting, " + need + ": " + e.getMessage());
        }
    }

    @Override
    public void close() throws IOException {
        PrivateFiles.deleteFolder(path);
    }
}
