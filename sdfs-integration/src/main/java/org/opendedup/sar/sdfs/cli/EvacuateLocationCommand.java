package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME evacuate-location}: moves all containers out of a data location, and takes it away. */
@Command(
        name = "evacuate-location",
        description = {
            "Moves all containers of a data location to the others, and takes it from a mounted volume.",
            "",
            "Programs read and write meanwhile. New containers go to the other locations from the beginning on. When",
            "nothing is left, the volume does not need the location any more, and its disk can be removed. It has the",
            "pace of the collections of garbage, of which one runs at a time: 'gc status' shows the progress, 'gc set'",
            "changes the pace, 'gc stop' stops it. The first data location stays."
        },
        footer = {
            "Stopped, or after a crash, the same command goes on; 'add-location' with the same folder uses it again",
            "instead. Ctrl-C stops what the command started itself.",
            "",
            "Examples:",
            "  sdfscli pool0 evacuate-location /disk2/pool0 --wait",
            "  sdfscli pool0 gc set --rate=20              # at most 20 MB/s, also while it is running"
        })
final class EvacuateLocationCommand extends JobCommand {
    @Parameters(paramLabel = "FOLDER", description = "Folder of the data location.")
    @Nullable
    Path folder;

    @Option(names = "--wait", description = "Show the progress, and wait for the end.")
    boolean wait;

    EvacuateLocationCommand() {
        super(GcControl.COMMAND);
    }

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        if (folder == null) {
            throw usage("name the folder");
        }
        cli().requireFiles();
        Path place = folder.toAbsolutePath().normalize();
        requireFurther(place);
        Optional<Map<String, Object>> ended = start("move", Map.of(GcControl.LEAVES, place.toString()), wait);
        if (ended.isPresent()) {
            boolean isDone = isDone(ended.get());
            if (!isDone && !cli().json) {
                throw new CommandFailedException("the move was stopped; the same command continues it");
            }
            print(named(ended.get()), place + " is no data location of the volume any more.");
            return isDone ? ExitCode.OK : ExitCode.FAILED;
        }
        return ExitCode.OK;
    }

    /** Who does not wait for the end would not see that the folder is a wrong one. */
    private void requireFurther(Path place) throws IOException, CommandFailedException {
        var definition = cli().environment().configDirectory().read(cli().name());
        if (!definition.furtherLocations().contains(place)) {
            throw new CommandFailedException(
                    place.equals(definition.values().get(VolumeOptions.DATA_LOCATION))
                            ? place + " is the first data location, which also has the marks of the volume and the"
                                    + " backups of its metadata: it stays"
                            : place + " is no data location that was added; 'sdfscli " + cli().name()
                                    + " status' lists them");
        }
    }

    @Override
    void checkReply(Map<String, Object> reply) throws CommandFailedException {
        if (!isStarted(reply)) {
            throw new CommandFailedException("a " + running("collection", reply) + "; try again when it has ended");
        }
    }
}
