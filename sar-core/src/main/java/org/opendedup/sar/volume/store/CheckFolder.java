package org.opendedup.sar.volume.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
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
 * A folder in a metadata folder, for what a check, an exact pass, a comparison of snapshots or the sending of one sorts
 * or a receive notes, and for the copy of the metadata that the check of a volume in use reads. It is deleted at the
 * end of that; what a crash left, when the next one begins and when the volume is opened.
 */
public final class CheckFolder implements Closeable {
    private static final String CHECK = "check";
    private static final String JOIN = "join";
    private static final String SEND = "send";
    private static final String RECEIVE = "receive";
    private static final String DIFFERENCE = "difference";
    private static final String SCRATCH = "scratch";

    /** Names of all such folders in the metadata folder, each of which a crash may leave. */
    public static final List<String> NAMES = List.of(CHECK, JOIN, SEND, RECEIVE, DIFFERENCE);

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

    /** As {@link #make(Path)}, for sending a snapshot; only one is sent at a time. */
    public static CheckFolder forSending(Path metadata) throws IOException {
        return make(metadata, SEND);
    }

    /** As {@link #make(Path)}, for what a receive notes of a stream; no other one uses the metadata folder. */
    public static CheckFolder forReceiving(Path metadata) throws IOException {
        return make(metadata, RECEIVE);
    }

    /** As {@link #make(Path)}, for a comparison of snapshots; no other one uses the metadata folder. */
    public static CheckFolder forDifference(Path metadata) throws IOException {
        return make(metadata, DIFFERENCE);
    }

    /**
     * Makes a folder beside the metadata folder, which need not exist: for a check of a volume in an object store. What
     * an interrupted check left is deleted by the next one.
     */
    static CheckFolder beside(Path metadata) throws IOException {
        return makeAt(besideOf(metadata));
    }

    /** Returns the folder of {@link #beside}, which a crash may leave. */
    public static Path besideOf(Path metadata) {
        return metadata.resolveSibling(metadata.getFileName() + "." + CHECK);
    }

    private static CheckFolder make(Path metadata, String name) throws IOException {
        assert NAMES.contains(name) : name;
        return makeAt(metadata.resolve(name));
    }

    private static CheckFolder makeAt(Path path) throws IOException {
        PrivateFiles.deleteFolder(path);
        PrivateFiles.createFolders(path.resolve(SCRATCH));
        return new CheckFolder(path, FileDevice.of(path));
    }

    /** Deletes what an interrupted check or pass left; does nothing if there is nothing. */
    public static void removeLeftover(Path metadata) throws IOException {
        for (String name : NAMES) {
            PrivateFiles.deleteFolder(metadata.resolve(name));
        }
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

    /** Returns the folder itself. */
    Path path() {
        return path;
    }

    /** Returns the path of the folder in which is sorted. */
    public Path scratch() {
        return path.resolve(SCRATCH);
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
