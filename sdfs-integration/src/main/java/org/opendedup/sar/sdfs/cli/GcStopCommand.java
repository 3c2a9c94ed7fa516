package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME gc stop}: stops the running collection. */
@Command(
        name = "stop",
        description = {
            "Stops the running collection of garbage after the container at hand.",
            "",
            "What it has returned stays returned, and the next collection goes on from there.",
            ""
        },
        customSynopsis = "sdfscli VOLUME gc stop [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 gc stop"})
final class GcStopCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    GcCommand parent;

    @Option(names = "--json", description = "Print the progress until now as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        GcCommand gc = Objects.requireNonNull(parent);
        Map<String, Object> report = gc.ask(GcControl.STOP, Map.of());
        gc.print(json, gc.named(report), "The collection is being stopped; what it has returned stays returned.");
        return ExitCode.OK;
    }
}
