package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.PlainNames;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.PathWalk;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.config.VolumeFileException;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Checks the folders ahead of a mount, so that errors are reported at once and in plain words. */
public final class MountPlaces {
    /** Dead mounts on top of each other, at most; each mount of the volume removes the ones below it. */
    private static final int DEAD_MOUNTS_MAX = 10;

    private MountPlaces() {}

    /**
     * Checks the volume's folders: a disk that is not mounted must not be replaced by an empty volume. The hash db may
     * be missing, because it can be rebuilt.
     *
     * @throws CommandFailedException if a folder is missing, which it names, or the chunks would be others
     * @throws IOException if other users may write to a folder; names it
     */
    public static void checkVolume(VolumeDefinition definition, PrintWriter warnings)
            throws IOException, CommandFailedException {
        VolumeConfig.Locations locations = definition.config().locations();
        boolean isStored = definition.store() != null;
        checkLocation("base path", definition.basePath(), isStored ? fromStore(definition.basePath()) : "");
        for (Path data : locations.allData()) {
            checkLocation("data location", data, isStored ? fromStore(data) : "");
        }
        Path metadata = locations.metadata();
        checkLocation(
                "metadata location",
                metadata,
                isStored
                        ? fromStore(metadata)
                        : " If it is lost, bring the newest backup back: mkdir -m 700 " + metadata
                                + ", then sdfs-check " + definition.config().name() + " --restore-metadata");
        if (!Files.isDirectory(locations.hashDb())) {
            warnings.println("mount.sdfs: the hash db location " + locations.hashDb()
                    + " is missing; the index will be rebuilt from the containers");
        }
        VolumeFolders.of(definition).requireSafe();
        checkChunking(definition, locations.data());
        checkChunking(definition, locations.metadata());
    }

    private static String fromStore(Path folder) {
        return " If it is lost, the volume comes back from its object store, without what was not there yet: mkdir -p"
                + " -m 700 " + folder;
    }

    /** Refuses chunks that are cut in another way than those that are stored: no content would be found again. */
    private static void checkChunking(VolumeDefinition definition, Path location)
            throws IOException, CommandFailedException {
        Chunking stored;
        try {
            stored = VolumeFileCopy.read(location)
                    .map(copy -> copy.definition().config().chunking())
                    .orElse(definition.config().chunking());
        } catch (VolumeFileException damaged) {
            // The other location has a copy, too. The daemon writes both anew.
            return;
        }
        if (stored != definition.config().chunking()) {
            throw new CommandFailedException("the content of the volume '"
                    + definition.config().name() + "' is cut into chunks by " + stored + ", and its volume file has "
                    + definition.config().chunking() + ", which would store all content again. Write hash-type=\""
                    + stored + "\" there; to change the type, make another volume and copy the files");
        }
    }

    /**
     * Refuses a folder for a new volume that lies in a mounted one: each byte would be stored twice.
     *
     * @param place need not exist
     */
    public static void refuseVolume(Path place) throws IOException, CommandFailedException {
        if (Files.getFileStore(FileDevice.ofNearest(place).folder()).type().equals(DeadMount.TYPE)) {
            throw new CommandFailedException(place + " lies in a volume of this program; choose a folder on a disk");
        }
    }

    /**
     * Refuses a folder where no volume is mounted: what is written there would lie on the disk below, hidden by the
     * next mount. A volume that another machine mounts, and that is reached by NFS or SSHFS, is known by its folder of
     * snapshots.
     */
    public static void requireVolume(Path folder) throws IOException, CommandFailedException {
        if (!Files.getFileStore(folder).type().equals(DeadMount.TYPE)
                && !Files.isDirectory(folder.resolve(Namespace.SNAPSHOT_FOLDER))) {
            throw new CommandFailedException("no volume is mounted on " + folder + " (it has no "
                    + Namespace.SNAPSHOT_FOLDER + "); mount it first");
        }
    }

    private static void checkLocation(String what, Path folder, String ifLost) throws CommandFailedException {
        if (!Files.isDirectory(folder)) {
            throw new CommandFailedException("the " + what + " " + folder
                    + " is missing; is its disk mounted? (No folder was made in its place.)" + ifLost);
        }
        if (!Files.isReadable(folder) || !Files.isExecutable(folder)) {
            throw new CommandFailedException("the " + what + " " + folder + " cannot be read by this user");
        }
    }

    /**
     * Checks the mount point, and removes the dead mounts that killed daemons left there.
     *
     * @throws CommandFailedException if nothing can be mounted there
     */
    public static void checkMountPoint(Path mountPoint, PrintWriter warnings)
            throws IOException, CommandFailedException {
        if (!PlainNames.isText(mountPoint)) {
            throw new CommandFailedException("a folder whose name is not UTF-8 text, such as " + mountPoint
                    + ", cannot be the mount point; rename it or choose another");
        }
        for (int cleared = 0; ; cleared++) {
            Optional<MountTable.Entry> mount = MountTable.read().top(mountPoint);
            if (mount.isEmpty()) {
                break;
            } else if (cleared == DEAD_MOUNTS_MAX || !DeadMount.isDead(mount.get())) {
                throw new CommandFailedException(
                        "something is mounted on " + mountPoint + " already; unmount it first: umount " + mountPoint);
            }
            DeadMount.clear(mount.get());
            warnings.println("mount.sdfs: removed the mount on " + mountPoint + ", whose daemon was dead");
        }
        if (Files.notExists(mountPoint)) {
            throw new CommandFailedException(
                    "the mount point " + mountPoint + " does not exist; make it: mkdir -p " + mountPoint);
        }
        if (!Files.readAttributes(mountPoint, BasicFileAttributes.class).isDirectory()) {
            throw new CommandFailedException("the mount point " + mountPoint + " is not a folder");
        }
        try (Stream<Path> entries = Files.list(mountPoint)) {
            if (entries.findAny().isPresent()) {
                warnings.println("mount.sdfs: " + mountPoint
                        + " is not empty; its contents are hidden while the volume is mounted");
            }
        }
    }

    /**
     * Refuses a mount point over the volume's own files, which would hide them from the daemon, or inside a store of
     * the volume, which treats everything in it as its own.
     *
     * @param configFolder folder of the volume file
     * @throws CommandFailedException if a folder would be hidden or filled; names it
     */
    public static void checkApart(Path mountPoint, RunFiles files, Path configFolder)
            throws IOException, CommandFailedException {
        VolumeDefinition definition = files.definition();
        Map<String, Path> stores = definition.stores();
        var places = new LinkedHashMap<String, Path>();
        places.put("base path", definition.basePath());
        places.putAll(stores);
        places.put("log folder", files.logFolder());
        places.put("run folder", files.runFolder());
        places.put("folder of the control socket", files.socketFolder());
        places.put("folder of the volume files", configFolder);
        for (Map.Entry<String, Path> place : places.entrySet()) {
            if (PathWalk.to(place.getValue()).meets(mountPoint)) {
                throw new CommandFailedException(mountPoint + " cannot be the mount point: the " + place.getKey() + " "
                        + place.getValue() + " would be hidden under the mount; choose a mount point outside it");
            }
        }
        PathWalk here = PathWalk.to(mountPoint);
        for (Map.Entry<String, Path> store : stores.entrySet()) {
            if (here.meets(store.getValue())) {
                throw new CommandFailedException(mountPoint + " cannot be the mount point: it lies in the "
                        + store.getKey() + " " + store.getValue()
                        + ", which is for the volume's own files; choose a mount point outside it");
            }
        }
    }
}
