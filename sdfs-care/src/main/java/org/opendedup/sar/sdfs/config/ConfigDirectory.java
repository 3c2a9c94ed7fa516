package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The folder of the volume files. Each file is named {@code <name>-volume-cfg.xml}, as in SDFS. */
public record ConfigDirectory(Path folder) {
    /** Where mount(8) finds volumes. */
    public static final Path DEFAULT = Path.of("/etc/sdfs");

    private static final String SUFFIX = "-volume-cfg.xml";

    /** Follows the name of the file of a volume that is being removed, so that nothing else finds it. */
    private static final String BEING_REMOVED = ".being-removed";

    /** Returns the path of a volume's file, which need not exist. */
    public Path fileOf(String volume) {
        var unused = VolumeOptions.NAME.parse(volume);
        return folder.resolve(volume + SUFFIX);
    }

    /** Returns the path of the file of a volume that {@code sdfscli VOLUME destroy} has begun to remove. */
    public Path beingRemoved(String volume) {
        Path file = fileOf(volume);
        return file.resolveSibling(file.getFileName() + BEING_REMOVED);
    }

    /** Returns the names of the volumes that have a file here, sorted. Empty if the folder does not exist. */
    public List<String> volumes() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(SUFFIX))
                    .map(name -> name.substring(0, name.length() - SUFFIX.length()))
                    .sorted()
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    /**
     * Returns what is known of an OpenDedup SDFS volume whose chunks the plugin stores; empty if this is no such
     * volume, or there is no file.
     */
    public Optional<PluginStore> ofPlugin(String volume) throws IOException {
        Path file = fileOf(volume);
        return Files.isRegularFile(file) ? PluginVolumeFile.store(file) : Optional.empty();
    }

    /**
     * Reads a volume's file.
     *
     * @throws NoSuchVolumeException if there is no such file; the message lists the existing volumes
     */
    public VolumeDefinition read(String volume) throws IOException {
        Path file = fileOf(volume);
        VolumeDefinition definition;
        try {
            definition = VolumeFile.read(file);
        } catch (NoSuchFileException e) {
            throw Files.exists(beingRemoved(volume))
                    ? new NoSuchVolumeException(volume)
                    : new NoSuchVolumeException(volume, folder, volumes());
        }
        String name = definition.config().name();
        if (!name.equals(volume)) {
            throw new VolumeFileException(file, 0, "describes the volume '" + name + "', not '" + volume + "'", null);
        }
        return definition;
    }
}
