package org.opendedup.sar.sdfs.cli.removal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PosixFile;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.mounts.VolumeFolders;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.OwnFiles;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.config.VolumeFileException;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The removal of an unmounted volume. It begins when the volume file has another name, by which nothing mounts the
 * volume any more, and ends when that file is gone. After a crash in between, the same steps finish it. The caller
 * holds the volume's lock.
 */
public final class VolumeRemoval {
    /**
     * Files that are locked while the metadata, an index, an SSD location or an object store are in use; also by
     * RocksDB itself.
     */
    private static final List<String> LOCKS = List.of("ACKNOWLEDGED", "LOCK", "lease.lock", "sar.lock");

    private final Path file;
    private final Path begunFile;
    private final boolean isBegun;
    private final VolumeDefinition definition;
    private final RunFiles files;
    /** The folders that have bytes of the volume's files. */
    private final List<OwnFiles> stores;

    private final List<OwnFiles> places;

    /** Receives how much is done. */
    @FunctionalInterface
    public interface Progress {
        void at(long files, long of);
    }

    private VolumeRemoval(Path file, Path begunFile, boolean isBegun, VolumeDefinition definition, RunFiles files) {
        this.file = file;
        this.begunFile = begunFile;
        this.isBegun = isBegun;
        this.definition = definition;
        this.files = files;
        VolumeConfig.Locations locations = definition.config().locations();
        Path ssd = definition.sar().ssdLocation();
        var all = new ArrayList<OwnFiles>();
        if (ssd != null) {
            all.add(OwnFiles.ssd(ssd));
        }
        all.add(OwnFiles.index(locations.hashDb()));
        all.add(OwnFiles.metadata(locations.metadata()));
        // The first one last: it says whose the others are.
        if (definition.store() != null) {
            all.add(OwnFiles.ofReader(locations.metadata()));
            all.add(OwnFiles.ofCheck(locations.metadata()));
        }
        locations.furtherData().forEach(further -> all.add(OwnFiles.containers(further)));
        all.add(OwnFiles.containers(locations.data()));
        stores = List.copyOf(all);
        all.add(OwnFiles.ofDaemon(definition.basePath(), definition.config().name()));
        places = List.copyOf(all);
    }

    /**
     * Returns the removal of a volume, or the rest of one that was interrupted; changes nothing.
     *
     * @param runFiles returns the files of a volume while it runs
     * @throws IOException if there is no such volume, or its file cannot be read
     */
    public static VolumeRemoval of(
            ConfigDirectory directory, String volume, Function<VolumeDefinition, RunFiles> runFiles)
            throws IOException {
        Path begunFile = directory.beingRemoved(volume);
        boolean isBegun = Files.exists(begunFile);
        VolumeDefinition definition = isBegun ? VolumeFile.read(begunFile) : directory.read(volume);
        return new VolumeRemoval(directory.fileOf(volume), begunFile, isBegun, definition, runFiles.apply(definition));
    }

    public RunFiles runFiles() {
        return files;
    }

    /** Returns whether an earlier removal was interrupted. */
    public boolean isBegun() {
        return isBegun;
    }

    /**
     * Checks that all that would be removed is this volume's, and that no other user can put something else in its
     * place meanwhile.
     *
     * @throws CommandFailedException if a folder is missing or another volume's; it says what to do
     */
    public void check() throws IOException, CommandFailedException {
        PrivateFolder.at(isBegun ? begunFile : file).requireSafe();
        VolumeFolders.of(definition).requireSafe();
        VolumeConfig.Locations locations = definition.config().locations();
        UUID volume = VolumeFileCopy.volumeIn(locations.data());
        if (volume == null && isOnlyPrepared(locations.metadata())) {
            return;
        }
        if (volume == null && !isBegun) {
            throw new CommandFailedException("there are no containers of the volume in " + locations.data()
                    + ": mount their disk. If it is lost for good, remove what is left yourself: "
                    + String.join(", ", folders()) + ", and at last " + file);
        }
        if (!Files.isDirectory(locations.metadata()) && !isBegun) {
            throw new CommandFailedException("the metadata location " + locations.metadata() + " is missing: mount its"
                    + " disk, or if it is lost for good, make the folder: mkdir -m 700 " + locations.metadata());
        }
        Path ssd = definition.sar().ssdLocation();
        if (ssd != null) {
            PrivateFolder.at(ssd).requireSafe();
        }
        for (OwnFiles store : stores) {
            if (volume == null) {
                requireEmpty(store);
            } else {
                requireSame(store.folder(), volume);
            }
        }
        if (!isBegun) {
            requireKnown(locations.metadata());
        }
    }

    /**
     * Returns whether this machine has never written to the volume, which lies in an object store: it only read, if so.
     */
    private boolean isOnlyPrepared(Path metadata) {
        return definition.store() != null && !Files.exists(metadata.resolve("CURRENT"));
    }

    /**
     * Checks that no process uses one of the folders. Besides one that holds the volume's lock, it may be one that
     * serves the volume under another name, as that of a copy of its file.
     */
    public void requireUnused() throws IOException, CommandFailedException {
        for (OwnFiles store : stores) {
            for (String lock : LOCKS) {
                if (LockFile.isHeld(store.folder().resolve(lock))) {
                    throw new CommandFailedException(store.folder() + " is in use by another process, which holds "
                            + lock + "; nothing was removed");
                }
            }
        }
    }

    /** The identity goes last: without it, files in the other folders are of a volume that was made since. */
    private void requireEmpty(OwnFiles store) throws IOException, CommandFailedException {
        if (store.find().files() > 0) {
            throw new CommandFailedException("nothing says whose files those in " + store.folder() + " are, because "
                    + definition.config().locations().data() + " has no volume; nothing was removed now. Mount the disk"
                    + " of the containers, or if they are gone: rm " + begunFile);
        }
    }

    /** A wrong path in the volume file may lead to a database of another program, whose files have the same names. */
    private void requireKnown(Path metadata) throws IOException, CommandFailedException {
        boolean isKnown = volumeOf(metadata) != null || Files.exists(metadata.resolve(OwnFiles.SHIPPED));
        if (!isKnown && OwnFiles.metadata(metadata).find().files() > 0) {
            throw new CommandFailedException(metadata + " does not say that it is this volume's: its file "
                    + VolumeFileCopy.NAME + " is missing or damaged; nothing was removed. If " + file
                    + " is right, a mount of the volume writes it again");
        }
    }

    /** Returns the volume that the copy of the volume file names; null if there is none that can be read. */
    private static @Nullable String volumeOf(Path metadata) throws IOException {
        try {
            return VolumeFileCopy.read(metadata)
                    .map(copy -> copy.volume().toString())
                    .orElse(null);
        } catch (VolumeFileException damaged) {
            return null;
        }
    }

    /** Checks all that says whose a folder is, whatever kind of folder it should be. */
    private static void requireSame(Path store, UUID volume) throws IOException, CommandFailedException {
        for (String identity : Arrays.asList(
                Objects.toString(VolumeFileCopy.volumeIn(store), null),
                volumeOf(store),
                textOf(store.resolve(OwnFiles.SHIPPED)),
                textOf(store.resolve("sar.id")),
                textOf(store.resolve("raw/volume")))) {
            if (identity != null && !identity.contains(volume.toString())) {
                throw new CommandFailedException(store + " is another volume's: it names '" + identity.strip()
                        + "', not " + volume + "; nothing was removed");
            }
        }
    }

    private static @Nullable String textOf(Path identity) throws IOException {
        return Files.isRegularFile(identity) ? Files.readString(identity) : null;
    }

    /** Returns the folders that have files of the volume. */
    public List<String> folders() {
        return places.stream().map(place -> place.folder().toString()).toList();
    }

    /** Returns what is in each place; of the base path without the folders that are places themselves. */
    public Map<OwnFiles, OwnFiles.Found> find() throws IOException {
        var found = new LinkedHashMap<OwnFiles, OwnFiles.Found>();
        for (OwnFiles place : places) {
            OwnFiles.Found here = place.find();
            List<Path> others = here.others().stream()
                    .filter(other -> places.stream()
                            .noneMatch(store -> store != place && store.folder().startsWith(other)))
                    .toList();
            found.put(place, new OwnFiles.Found(here.files(), here.bytes(), others));
        }
        return found;
    }

    /**
     * Removes it. Returns the folders that stay, because they have something that is not the volume's, or are mount
     * points.
     *
     * @param of number of files that were found
     */
    public List<Path> remove(long of, Progress progress) throws IOException {
        if (!isBegun) {
            AtomicFile.move(file, begunFile);
        }
        // No process of this volume listens: the caller holds its lock.
        if (!ControlSocket.isListenedTo(files.socket())) {
            Files.deleteIfExists(files.socket());
        }
        VolumeConfig.Locations locations = definition.config().locations();
        KeyHeaderCopies.erase(locations.data(), locations.metadata());
        Path base = definition.basePath();
        long before = 0;
        for (OwnFiles place : places) {
            long done = before;
            before += place.find().files();
            place.remove(removed -> progress.at(done + removed, of));
            for (Path above = place.folder().getParent();
                    above != null && above.startsWith(base);
                    above = above.getParent()) {
                OwnFiles.removeIfEmpty(above);
            }
            force(place.folder());
        }
        // When all else is gone for good: from here on nobody finds the volume any more.
        Files.delete(begunFile);
        return places.stream()
                .map(OwnFiles::folder)
                .filter(Files::exists)
                .distinct()
                .toList();
    }

    /** Returns the address of the object store, where the volume stays; empty: it lies in its folders only. */
    public String store() {
        RemoteSettings settings = definition.store();
        return settings == null ? "" : settings.store();
    }

    /** Returns the definition of the volume. */
    public VolumeDefinition definition() {
        return definition;
    }

    /** Returns whether the volume has a key header, which is overwritten first. */
    public boolean isEncrypted() {
        return definition.isEncrypted();
    }

    /** Makes durable what was removed in a folder, which may be gone itself. */
    private static void force(Path folder) throws IOException {
        Path there = folder.toAbsolutePath();
        while (Files.notExists(there) && there.getParent() != null) {
            there = there.getParent();
        }
        PosixFile.forceFileSystem(there);
    }

    public Path volumeFile() {
        return isBegun ? begunFile : file;
    }
}
