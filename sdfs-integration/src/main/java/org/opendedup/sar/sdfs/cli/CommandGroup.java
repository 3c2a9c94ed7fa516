package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** A command of {@code sdfscli VOLUME} that only has subcommands, which ask the daemon by one control command. */
abstract class CommandGroup implements Callable<Integer> {
    private final String control;

    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = "--json", description = "Print JSON. May also follow the command.")
    boolean json;

    /** @param control name of the control command, whose argument {@code action} selects the operation */
    CommandGroup(String control) {
        this.control = control;
    }

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        CommandSpec own = Objects.requireNonNull(spec);
        throw new ParameterException(
                own.commandLine(), "name a command, such as sdfscli VOLUME " + own.name() + " status");
    }

    final VolumeClient cli() {
        return Objects.requireNonNull(parent);
    }

    /** Returns whether JSON is wanted, by this command, the one above it, or the calling subcommand. */
    final boolean json(boolean asked) {
        return asked || json || cli().json;
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

    final void print(String line) {
        cli().environment().out().println(line);
    }

    /** Prints a reply as JSON, or as the given text. */
    final void print(boolean asked, Map<String, Object> reply, String words) {
        print(json(asked) ? Json.pretty(reply) : words);
    }
}
