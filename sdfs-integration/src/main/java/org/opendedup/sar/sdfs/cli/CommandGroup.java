package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A command of {@code sdfscli VOLUME} that only has subcommands, which ask the daemon by one control command. */
abstract class CommandGroup extends VolumeCommand {
    private static final long POLL_MILLIS = 250;

    private final String control;

    /** @param control name of the control command, whose argument {@code action} selects the operation */
    CommandGroup(String control) {
        this.control = control;
    }

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        CommandSpec own = Objects.requireNonNull(spec);
        throw usage("name a command, such as sdfscli VOLUME " + own.name() + " status");
    }

    static Map<String, Object> request(String action, Map<String, ?> arguments) {
        var request = new LinkedHashMap<String, Object>(arguments);
        request.put("action", action);
        return request;
    }

    /** @throws CommandFailedException if the volume is not mounted */
    final Map<String, Object> ask(String action, Map<String, ?> arguments) throws IOException, CommandFailedException {
        return cli().ask(control, request(action, arguments));
    }

    /** @param subcommand the one that was used wrongly */
    final ParameterException usage(String subcommand, String message) {
        return new ParameterException(
                Objects.requireNonNull(spec).commandLine().getSubcommands().get(subcommand), message);
    }

    /** Work of the daemon that goes on: what is counted, how much of it is done, and of how much. */
    record Stage(String name, long done, long of) {}

    /**
     * Shows the progress of work on the error stream, so that the output stream has only the result. An interruption
     * does no harm: the work continues.
     *
     * @param first the status to begin with
     * @param stage finds the work in a status; null if it has ended
     * @return the status of the end
     */
    final Map<String, Object> follow(Map<String, Object> first, Function<Map<String, Object>, @Nullable Stage> stage)
            throws IOException, CommandFailedException, InterruptedException {
        var progress = new ProgressLine(cli().environment());
        Map<String, Object> status = first;
        for (Stage now = stage.apply(status); now != null; now = stage.apply(status)) {
            progress.at(now.name, now.done, now.of);
            Thread.sleep(POLL_MILLIS);
            status = ask(VolumeCommands.STATUS, Map.of());
        }
        progress.clear();
        return status;
    }
}
