package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.MachineMemory;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.LocalCache;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.RemoteSettings;

/**
 * Makes the volume file of this machine what the volume's object store says, ahead of a mount or a check. A machine
 * that has no volume file gets one, with its own folders.
 */
public final class VolumeOfStore {
    private final Environment environment;
    private final ConfigDirectory directory;
    private final String command;
    /** Whether another process had the lock of the volume, so that the file may not be up to date. */
    private boolean isLeft;

    /** @param command name of the command, for what it tells */
    public VolumeOfStore(Environment environment, String command) {
        this.environment = environment;
        this.command = command;
        directory = environment.configDirectory();
    }

    /**
     * Returns the name of the volume, whose file is up to date then.
     *
     * @param volume its name, or the address of its object store
     * @param isReader whether nothing may be changed in the store
     * @throws IOException if the store does not answer, or has no volume
     * @throws CommandFailedException if the volume file of this machine is of another volume
     */
    public String named(String volume, boolean isReader) throws IOException, CommandFailedException {
        try {
            return upToDate(volume, isReader);
        } catch (IllegalArgumentException e) {
            // What the store says does not go with what this machine has: neither alone is wrong.
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
    }

    /** Makes the file up to date if another process had the lock of the volume before, and has ended since. */
    public void again(String name, boolean isReader) throws IOException, CommandFailedException {
        if (isLeft) {
            var unused = named(name, isReader);
        }
    }

    private String upToDate(String volume, boolean isReader) throws IOException, CommandFailedException {
        if (!ObjectStores.isAddress(volume)) {
            refresh(volume, isReader);
            return volume;
        }
        try (StoredVolumeFile store = StoredVolumeFile.in(volume)) {
            VolumeDefinition stored = store.read();
            String name = stored.config().name();
            if (Files.exists(directory.fileOf(name))) {
                takeOver(store, directory.read(name), volume);
            } else if (Files.exists(directory.beingRemoved(name))) {
                throw new CommandFailedException("a volume '" + name + "' is being removed from this machine; finish"
                        + " that first: sdfscli " + name + " destroy");
            } else {
                make(stored.with(VolumeOptions.OBJECT_STORE, volume));
            }
            return name;
        }
    }

    private void refresh(String name, boolean isReader) throws IOException {
        if (!Files.exists(directory.fileOf(name))) {
            return;
        }
        VolumeDefinition present = directory.read(name);
        RemoteSettings settings = present.store();
        if (settings != null) {
            try (StoredVolumeFile store = StoredVolumeFile.in(settings.store())) {
                if (isReader && !store.isPresent()) {
                    say(name, "the volume file in " + settings.store() + " is missing; that of this machine is used");
                    return;
                }
                if (!isReader
                        && store.restore(
                                present,
                                VolumeFileCopy.volumeIn(
                                        present.config().locations().data()))) {
                    say(name, "the volume file in " + settings.store() + " was missing; wrote that of this machine");
                }
                update(name, store);
            }
        }
    }

    /** A process that has the lock of the volume writes the file itself: what it has written must not be lost. */
    private void update(String name, StoredVolumeFile store) throws IOException {
        RunFiles files = environment.runFiles(directory.read(name));
        if (!Files.isDirectory(files.runFolder())) {
            // No process has served it here yet.
            write(name, store);
            return;
        }
        try (LockFile held = LockFile.tryAcquire(files.lock()).orElse(null)) {
            isLeft = held == null;
            if (held != null) {
                write(name, store);
            }
        }
    }

    /** Writes the volume file, and says what another machine has changed. */
    private void write(String name, StoredVolumeFile store) throws IOException {
        VolumeDefinition present = directory.read(name);
        VolumeDefinition newest = store.newest(present);
        String changes = VolumeOptions.ALL.stream()
                .filter(option -> !Objects.equals(
                        present.values().text(option), newest.values().text(option)))
                .map(option -> option + "=" + newest.values().text(option))
                .collect(Collectors.joining(", "));
        if (!changes.isEmpty()) {
            VolumeFile.write(directory.fileOf(name), newest);
            say(newest.config().name(), "changed in the object store: " + changes);
        }
    }

    private void takeOver(StoredVolumeFile store, VolumeDefinition present, String address)
            throws IOException, CommandFailedException {
        String name = present.config().name();
        RemoteSettings settings = present.store();
        if (settings == null || !settings.store().equals(address)) {
            throw new CommandFailedException("this machine has a volume '" + name + "' already, which lies in "
                    + (settings == null ? present.basePath() : settings.store()) + " (" + directory.fileOf(name)
                    + "). If that is another volume, mount this one with another folder for volume files, in"
                    + " SDFS_CONFIG_DIR. If it is the same one and its address has changed, write " + address
                    + " into that file");
        }
        update(name, store);
    }

    private void make(VolumeDefinition stored) throws IOException, CommandFailedException {
        String name = stored.config().name();
        Path base = folderOf(name);
        // Wherever the folders of the stored file are: this machine has its own.
        VolumeDefinition placed = new VolumeDefinition(StoredVolumeFile.placed(stored, base)
                .values()
                .with(VolumeOptions.WRITE_THREADS, Runtime.getRuntime().availableProcessors())
                .with(VolumeOptions.MEMORY_BUDGET, MachineMemory.defaultBudgetBytes()));
        PrivateFiles.createFolders(directory.folder());
        List<Path> folders = List.of(
                base,
                placed.config().locations().data(),
                placed.config().locations().metadata(),
                placed.config().locations().hashDb());
        for (Path folder : folders) {
            // An earlier try that was interrupted left empty ones.
            if (!folder.equals(base) && Files.exists(folder) && !isEmpty(folder)) {
                throw new CommandFailedException(folder + " exists already, and this machine has no volume '" + name
                        + "': " + remedy(placed.config().locations().data(), base));
            }
        }
        for (Path folder : folders) {
            PrivateFiles.createFolders(folder);
        }
        long disk = Files.getFileStore(base).getTotalSpace();
        placed = placed.with(VolumeOptions.CACHE_SIZE, LocalCache.defaultBytes(disk));
        long least = MemoryPlan.leastBudget(placed.engineConfig().withRequests(FuseMountService.requestBuffersOf("")));
        placed = MountArguments.withBudget(
                placed, Math.max(least, placed.config().memoryBudgetBytes()));
        VolumeFile.create(directory.fileOf(name), placed);
        say(name, "new on this machine; wrote " + directory.fileOf(name) + ", its folders lie in " + base);
    }

    /** With the promise LOCAL, the folders of a lost volume file may have what the store lacks. */
    private static String remedy(Path data, Path base) {
        String removal = "if it is left from a volume that is not needed here any more, remove " + base;
        return Files.exists(data.resolve(VolumeFileCopy.NAME))
                ? "if its volume file is lost, write that anew, because the folders may have what the object store"
                        + " lacks: mkfs.sdfs --recover " + data + "; " + removal
                : removal;
    }

    private void say(String name, String what) {
        environment.err().println(command + ": " + name + ": " + what);
    }

    private static boolean isEmpty(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }

    /** Returns the base path: who has a folder of its own for volume files has its volumes there, too. */
    private Path folderOf(String name) {
        return directory.equals(new ConfigDirectory(ConfigDirectory.DEFAULT))
                ? VolumeOptions.defaultFolder(name)
                : directory.folder().resolve("volumes").resolve(name);
    }
}
