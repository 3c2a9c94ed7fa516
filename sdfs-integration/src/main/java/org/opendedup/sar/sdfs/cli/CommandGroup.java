package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import picocli.CommandLine.Model.CommandSpec;

/** A command of {@code sdfscli VOLUME} that only has subcommands, which ask the daemon by one control command. */
abstract class CommandGroup extends VolumeCommand {
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
}
