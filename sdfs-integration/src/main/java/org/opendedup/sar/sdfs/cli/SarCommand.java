package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME sar}: the SSD of a volume. {@link SarControl} answers its requests in the daemon. */
@Command(
        name = "sar",
        description = "Shows and controls the SSD of a volume.",
        customSynopsis = "sdfscli VOLUME sar COMMAND [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {
            SarStatusCommand.class,
            SarSetCommand.class,
            SarExplainCommand.class,
            SarDemoteCommand.class,
            SarResizeCommand.class,
            SarDetachCommand.class,
            SarAttachCommand.class
        },
        footer = {
            "",
            "To give a volume an SSD, make the volume with mkfs.sdfs --sar-ssd-location=FOLDER",
            "--sar-ssd-capacity=SIZE. Or, while it is not mounted, run sdfscli VOLUME sar attach FOLDER",
            "--capacity=SIZE, mount it, and run sar attach. The SSD holds only copies of chunks: losing it costs",
            "speed and no data."
        })
final class SarCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    SdfsCli parent;

    @Option(names = "--json", description = "Print JSON. May also follow the command.")
    boolean json;

    @Override
    public Integer call() {
        throw new ParameterException(
                Objects.requireNonNull(spec).commandLine(), "name a command, such as sdfscli VOLUME sar status");
    }

    SdfsCli cli() {
        return Objects.requireNonNull(parent);
    }

    /** Returns whether JSON is wanted, by this command, one above it, or the calling subcommand. */
    boolean json(boolean asked) {
        return asked || json || cli().json;
    }

    /** Asks the daemon; empty if the volume is not mounted. */
    Optional<Map<String, Object>> tryAsk(String action, Map<String, ?> arguments) throws IOException {
        var request = new LinkedHashMap<String, Object>(arguments);
        request.put("action", action);
        return ControlSocket.ask(cli().runFiles().socket(), SarControl.COMMAND, request);
    }

    /** @throws CommandFailedException if the volume is not mounted */
    Map<String, Object> ask(String action, Map<String, ?> arguments) throws IOException, CommandFailedException {
        return tryAsk(action, arguments).orElseThrow(cli()::notMounted);
    }

    void print(String line) {
        cli().environment().out().println(line);
    }

    /** Prints a reply as JSON, or as the given text. */
    void print(boolean asked, Map<String, Object> reply, String words) {
        print(json(asked) ? Json.pretty(reply) : words);
    }
}
