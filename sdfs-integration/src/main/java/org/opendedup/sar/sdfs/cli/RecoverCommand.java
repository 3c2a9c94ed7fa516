package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.mounts.VolumeFolders;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.volume.config.VolumeConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code mkfs.sdfs --recover}: writes a lost volume file anew, from the copies in the volume's locations. */
@Command(
        name = "mkfs.sdfs",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        customSynopsis = "mkfs.sdfs --recover LOCATION...",
        description = {
            "Writes the lost file of a volume anew, from the copies that the volume keeps in its locations.",
            "Changes nothing else, and replaces no volume file."
        },
        footer = {
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "Exit codes:  0 written, 1 failed, 64 wrong usage",
            "",
            "Example:",
            "  mkfs.sdfs --recover /srv/pool0/chunkstore/chunks"
        })
final class RecoverCommand implements Callable<Integer> {
    static final String OPTION = "--recover";

    private final Environment environment;

    @Option(names = OPTION, required = true, description = "Write the volume file; make no volume.")
    boolean recover;

    @Parameters(
            arity = "1..*",
            paramLabel = "LOCATION",
            description = "Folder of the containers, of names, recipes and counts, or both. A folder that has moved is "
                    + "recorded as it is named here. If the base path has moved with it, so have the folders in it.")
    List<Path> named = new ArrayList<>();

    RecoverCommand(Environment environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() throws IOException, CommandFailedException {
        // The copy of the data location is written first.
        Path dataLocation = null;
        Path metadataLocation = null;
        VolumeFileCopy copy = null;
        for (Path location : named) {
            Path folder = location.toAbsolutePath().normalize();
            VolumeFileCopy found = VolumeFileCopy.read(folder)
                    .orElseThrow(() -> new CommandFailedException("there is no copy of a volume file in " + folder
                            + " (no file " + VolumeFileCopy.NAME + "); is its disk mounted?"));
            if (copy != null && !copy.volume().equals(found.volume())) {
                throw new CommandFailedException("the locations belong to different volumes: " + copy.volume()
                        + ", and " + found.volume() + " in " + folder);
            }
            Path other = found.isOfData() ? dataLocation : metadataLocation;
            if (other != null) {
                throw new CommandFailedException(other + " and " + folder + " are the same location of the volume; name"
                        + " the one that is in use");
            }
            if (found.isOfData()) {
                dataLocation = folder;
            } else {
                metadataLocation = folder;
            }
            copy = copy == null || found.isOfData() ? found : copy;
        }
        write(Objects.requireNonNull(copy), dataLocation, metadataLocation);
        return ExitCode.OK;
    }

    private void write(VolumeFileCopy copy, @Nullable Path dataLocation, @Nullable Path metadataLocation)
            throws IOException, CommandFailedException {
        VolumeConfig.Locations old = copy.definition().config().locations();
        var places = new LinkedHashMap<Path, Path>();
        if (dataLocation != null) {
            places.put(old.data(), dataLocation);
        }
        if (metadataLocation != null) {
            places.put(old.metadata(), metadataLocation);
        }
        Path oldBase = copy.definition().basePath();
        Path base = basePath(oldBase, places);
        VolumeDefinition definition = copy.definition()
                .withPlaces(place -> places.getOrDefault(
                        place, place.startsWith(oldBase) ? base.resolve(oldBase.relativize(place)) : place));
        requireData(copy.volume(), definition.config().locations().data());
        String name = definition.config().name();
        Path file = environment.configDirectory().fileOf(name);
        if (Files.exists(file)) {
            throw new CommandFailedException("the volume '" + name + "' has a volume file, and nothing was changed: "
                    + file + "; if that file is damaged, move it away, and call this again");
        }
        if (Files.exists(environment.configDirectory().beingRemoved(name))) {
            // What the removal has not reached yet would be mounted, and gone when the removal goes on.
            throw new CommandFailedException("the volume '" + name + "' is being removed, and nothing was changed;"
                    + " finish that first: sdfscli " + name + " destroy");
        }
        VolumeFolders.of(definition).requireSafe();
        PrivateFiles.createFolders(environment.configDirectory().folder());
        VolumeFile.create(file, definition);
        report(file, copy.volume(), definition);
    }

    /** Returns the new base path: another one if the old one is gone, and a location lies in a folder like it. */
    private static Path basePath(Path old, Map<Path, Path> places) {
        if (Files.notExists(old)) {
            for (Map.Entry<Path, Path> place : places.entrySet()) {
                if (!place.getKey().startsWith(old)) {
                    continue;
                }
                Path below = old.relativize(place.getKey());
                int above = place.getValue().getNameCount() - below.getNameCount();
                if (above > 0 && place.getValue().endsWith(below)) {
                    return place.getValue().getRoot().resolve(place.getValue().subpath(0, above));
                }
            }
        }
        return old;
    }

    private static void requireData(UUID volume, Path data) throws IOException, CommandFailedException {
        UUID found = VolumeFileCopy.volumeIn(data);
        if (!volume.equals(found)) {
            throw new CommandFailedException((found == null
                            ? "there are no containers of the volume in " + data
                            : "the containers in " + data + " belong to volume " + found + ", the copy of the"
                                    + " volume file to volume " + volume)
                    + "; mount their disk, or name the folder that has them");
        }
    }

    private void report(Path file, UUID volume, VolumeDefinition definition) throws IOException {
        String name = definition.config().name();
        Path metadata = definition.config().locations().metadata();
        PrintWriter out = environment.out();
        out.println("Wrote " + file + " of volume '" + name + "' (" + volume + "):");
        out.println(line("base path", definition.basePath()));
        definition.stores().forEach((what, place) -> out.println(line(what, place)));
        if (definition.isEncrypted()) {
            out.println("  encrypted");
        }
        VolumeKeyHeader header = VolumeKeyHeader.of(definition);
        if (header != null && !header.copies().exist()) {
            out.println("The volume is encrypted, and its key header is in none of the locations: bring "
                    + KeyHeader.NAME + " back from a copy, or make it anew from an exported master key: sdfscli " + name
                    + " key add --from-export=FILE");
        }
        if (!Files.isDirectory(metadata)) {
            out.println("If names, recipes and counts are lost, bring the newest backup back: mkdir -p -m 700 "
                    + metadata + ", then sdfs-check " + name + " --restore-metadata");
        }
    }

    private static String line(String what, Path place) {
        return "  " + what + ": " + place + (Files.isDirectory(place) ? "" : " (missing)");
    }
}
