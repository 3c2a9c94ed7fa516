package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.VolumeConfig;

/** Looks at the folders before a volume is mounted, so that what is wrong is said at once and in plain words. */
final class MountPlaces {
    /** One on top of the other; each mount of the volume clears those before it. */
    private static final int DEAD_MOUNTS_MAX = 10;

    private MountPlaces() {}

    /**
     * A disk that is not mounted must not become an empty volume. The hash db may be missing: it is rebuilt.
     *
     * @throws CommandFailedException naming the folder that is missing
     * @throws IOException naming the one where other users may write
     */
    static void checkVolume(VolumeDefinition definition, PrintWriter warnings)
            throws IOException, CommandFailedException {
        VolumeConfig.Locations locations = definition.config().locations();
        checkLocation("base path", definition.basePath());
        checkLocation("data location", locations.data());
        checkLocation("metadata location", locations.metadata());
        if (!Files.isDirectory(locations.hashDb())) {
            warnings.println("mount.sdfs: the hash db location " + locations.hashDb()
                    + " is missing; the index will be rebuilt from the containers");
        }
        VolumeFolders.of(definition).requireSafe();
    }

    private static void checkLocation(String what, Path folder) throws CommandFailedException {
        if (!Files.isDirectory(folder)) {
            throw new CommandFailedException("the " + what + " " + folder
                    + " is missing; is its disk mounted? (Nothing was made in its place.)");
        }
        if (!Files.isReadable(folder) || !Files.isExecutable(folder)) {
            throw new CommandFailedException("the " + what + " " + folder + " cannot be read by this user");
        }
    }

    /**
     * Clears away what a killed daemon left mounted there.
     *
     * @throws CommandFailedException if nothing can be mounted there
     */
    static void checkMountPoint(Path mountPoint, PrintWriter warnings) throws IOException, CommandFailedException {
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
            warnings.println("mount.sdfs: cleared away the mount on " + mountPoint + ", whose daemon was dead");
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
                        + " is not empty; what lies there is hidden while the volume is mounted");
            }
        }
    }

    /**
     * A volume that is mounted over files of its own hides them from its daemon; one that is mounted among them takes what is in it
     * for its own.
     *
     * @param configFolder where the volume file is
     * @throws CommandFailedException naming what would be hidden, or filled
     */
    static void checkApart(Path mountPoint, RunFiles files, Path configFolder)
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
                        + place.getValue() + " would be hidden under the mount; choose a folder beside it");
            }
        }
        PathWalk here = PathWalk.to(mountPoint);
        for (Map.Entry<String, Path> store : stores.entrySet()) {
            if (here.meets(store.getValue())) {
                throw new CommandFailedException(mountPoint + " cannot be the mount point: it lies in the "
                        + store.getKey() + " " + store.getValue()
                        + ", which is for the volume's own files; choose a folder beside it");
            }
        }
    }
}
