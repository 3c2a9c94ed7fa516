package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.mounts.MountPlaces;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.Volume;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME add-location}: gives a volume another folder for containers, mounted or not. */
@Command(
        name = "add-location",
        description = {
            "Adds a folder for containers to a volume, mounted or not.",
            "",
            "FOLDER may be missing, and is then made; or empty. New containers go to the data location with the most",
            "free space; those that exist stay where they are. The volume needs all of its data locations from then",
            "on: a mount without one of them is refused."
        },
        footer = {
            "If the command is interrupted, call it again. Add the folder to the line of /etc/fstab, so that the",
            "volume is mounted after its disk: x-systemd.requires-mounts-for=FOLDER.",
            "",
            "Example:",
            "  sdfscli pool0 add-location /disk2/pool0"
        })
final class AddLocationCommand extends VolumeCommand {
    @Parameters(paramLabel = "FOLDER", description = "Folder on the other disk.")
    @Nullable
    Path folder;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (folder == null || folder.toString().isEmpty()) {
            throw usage("name the folder");
        }
        cli().requireFiles();
        Path place = folder.toAbsolutePath().normalize();
        MountPlaces.refuseVolume(place);
        Map<String, Object> request = Map.of(VolumeCommands.FOLDER, place.toString());
        Optional<Map<String, Object>> reply = cli().tryAsk(VolumeCommands.ADD_LOCATION, request);
        if (reply.isEmpty()) {
            addUnmounted(place, request);
        }
        print(
                named(request),
                "Containers are stored in " + place + ", too, from "
                        + (reply.isEmpty() ? "the next mount on." : "now on."));
        return ExitCode.OK;
    }

    private void addUnmounted(Path place, Map<String, Object> request) throws IOException, CommandFailedException {
        try {
            new UnmountedVolume(cli()).change(VolumeCommands.ADD_LOCATION, request, before -> {
                if (before.furtherLocations().contains(place)) {
                    return before; // Repeated, after an interruption.
                }
                VolumeDefinition after = before.withFurtherLocation(place);
                prepare(after, place);
                return after;
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void prepare(VolumeDefinition definition, Path place) {
        try {
            Volume.prepareDataLocation(definition.config().locations().data(), place);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
