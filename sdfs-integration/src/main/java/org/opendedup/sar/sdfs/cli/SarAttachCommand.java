package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME sar attach}: starts using an SSD. */
@Command(
        name = "attach",
        description = {
            "Starts using an SSD.",
            "",
            "FOLDER may be missing, and is then made; or empty; or one that this volume used before, whose copies",
            "are then used again. Another folder than before is kept in the volume file. If the volume is not",
            "mounted, only the volume file is changed. The first SSD of a volume is named while it is not mounted.",
            "Mounting never makes a folder and never fills an empty one, because its disk may not be mounted; attach",
            "it in that case.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar attach [FOLDER] [--capacity=SIZE] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 sar attach                             # the SSD of the volume file",
            "  sdfscli pool0 sar attach /ssd2/pool0                 # another SSD",
            "  sdfscli pool0 sar attach /ssd/pool0 --capacity=20GB  # the first SSD; then mount, and attach"
        })
final class SarAttachCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    SarCommand parent;

    @Parameters(
            arity = "0..1",
            paramLabel = "FOLDER",
            description = "Folder on the SSD. Default: the one that the volume file names.")
    @Nullable
    Path location;

    @Option(
            names = "--capacity",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Largest space to use on the first SSD of a volume. Refused if it has one; see resize.")
    @Nullable
    Long capacityBytes;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        SarCommand sar = Objects.requireNonNull(parent);
        Path folder = location == null ? null : location.toAbsolutePath().normalize();
        if (capacityBytes != null) {
            nameFirst(sar, folder, capacityBytes);
            return ExitCode.OK;
        }
        var reply = sar.tryAsk(SarControl.ATTACH, folder == null ? Map.of() : Map.of("location", folder.toString()));
        if (reply.isEmpty()) {
            changeFile(sar, folder, null);
        } else {
            Map<String, Object> status = reply.get();
            sar.print(json, status, "Attached " + status.get("location") + ": " + status.get("state") + ".");
        }
        return ExitCode.OK;
    }

    private void nameFirst(SarCommand sar, @Nullable Path folder, long capacity)
            throws IOException, CommandFailedException {
        if (folder == null) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "--capacity needs FOLDER: that of the first SSD");
        }
        sar.cli().requireFiles();
        var status = sar.tryAsk(SarControl.STATUS, Map.of());
        if (status.isPresent()) {
            throw new CommandFailedException(
                    "none".equals(status.get().get("state"))
                            ? SarSettings.NO_SSD
                            : hasOne(sar.cli().name()));
        }
        changeFile(sar, folder, capacity);
    }

    private static String hasOne(String volume) {
        return "the volume has an SSD: leave out --capacity; to change its size: sdfscli " + volume
                + " sar resize SIZE";
    }

    private void changeFile(SarCommand sar, @Nullable Path folder, @Nullable Long capacity)
            throws IOException, CommandFailedException {
        if (folder == null) {
            throw sar.cli().notMounted();
        }
        String volume = sar.cli().name();
        var notes = new StringBuilder();
        new UnmountedVolume(sar.cli()).change(definition -> {
            notes.append(note(definition, folder));
            return attached(volume, definition, folder, capacity);
        });
        sar.print(
                json,
                Map.of("location", folder.toString()),
                "The volume file names " + folder + " now. After mounting, start using a new folder: sdfscli " + volume
                        + " sar attach" + notes);
    }

    /** Raw files are found in the folder that the volume file names, and nowhere else. */
    private static String note(VolumeDefinition definition, Path folder) {
        Path before = definition.sar().ssdLocation();
        return !definition.raw().isEnabled() || folder.equals(before)
                ? ""
                : String.format(
                        "%nFiles that lie on the fast tier only are still in %s. If they were not migrated before the"
                                + " unmount, name that folder again, and migrate them.",
                        before);
    }

    private static VolumeDefinition attached(
            String volume, VolumeDefinition definition, Path folder, @Nullable Long capacity) {
        SarSettings before = definition.sar();
        if (before.ssdLocation() == null && capacity == null) {
            throw new IllegalArgumentException("the volume has no SSD yet: add --capacity=SIZE");
        } else if (capacity == null) {
            return definition.withSar(before.withLocation(folder));
        } else if (before.ssdLocation() != null) {
            throw new IllegalArgumentException(hasOne(volume));
        }
        return new VolumeDefinition(definition
                .values()
                .with(VolumeOptions.SSD_LOCATION, folder)
                .with(VolumeOptions.SSD_CAPACITY, capacity)
                .with(VolumeOptions.SAR_ENABLED, true));
    }
}
