package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME sar attach}: starts using an SSD. */
@Command(
        name = "attach",
        description = {
            "Starts using an SSD.",
            "",
            "FOLDER may be missing, and is then made; or empty; or one that this volume used before, whose copies",
            "are then used again. Another folder than before is kept in the volume file. If the volume is not",
            "mounted, or has no SSD yet, only the volume file is changed. Mounting never makes a folder and never",
            "fills an empty one, because its disk may not be mounted; attach it in that case.",
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
            description =
                    "Largest space to use on the SSD. Required if the volume has no SSD yet, refused otherwise; see "
                            + "resize.")
    @Nullable
    Long capacityBytes;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        SarCommand sar = Objects.requireNonNull(parent);
        Path folder = location == null ? null : location.toAbsolutePath().normalize();
        var arguments = new LinkedHashMap<String, Object>();
        if (folder != null) {
            arguments.put("location", folder.toString());
        }
        if (capacityBytes != null) {
            changeFile(sar, folder, capacityBytes);
            return ExitCode.OK;
        }
        var reply = sar.tryAsk(SarControl.ATTACH, arguments);
        if (reply.isEmpty()) {
            changeFile(sar, folder, null);
        } else {
            Map<String, Object> status = reply.get();
            sar.print(json, status, "Attached " + status.get("location") + ": " + status.get("state") + ".");
        }
        return ExitCode.OK;
    }

    private void changeFile(SarCommand sar, @Nullable Path folder, @Nullable Long capacity)
            throws IOException, CommandFailedException {
        if (folder == null) {
            throw sar.cli().notMounted();
        }
        new UnmountedVolume(sar.cli()).change(definition -> attached(definition, folder, capacity));
        sar.print(
                json,
                Map.of("location", folder.toString()),
                "The volume file names " + folder + " now. After mounting, start using a new folder: " + "sdfscli "
                        + sar.cli().name() + " sar attach");
    }

    private static VolumeDefinition attached(VolumeDefinition definition, Path folder, @Nullable Long capacity) {
        SarSettings before = definition.sar();
        if (before.ssdLocation() == null && capacity == null) {
            throw new IllegalArgumentException("the volume has no SSD yet: add --capacity=SIZE");
        }
        Map<String, Object> changes = capacity == null
                ? Map.of()
                : Map.of(
                        SarParameters.CAPACITY_BYTES,
                        capacity,
                        SarParameters.ENABLED,
                        before.ssdLocation() == null || before.tier().enabled());
        return definition.withSar(new SarSettings(folder, SarParameters.change(before.tier(), changes)));
    }
}
