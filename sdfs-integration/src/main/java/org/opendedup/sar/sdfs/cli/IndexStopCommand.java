package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME index stop}: ends an exact pass. */
@Command(
        name = "stop",
        description = {"Stops the exact pass that 'index join' began. What is joined stays joined.", ""},
        customSynopsis = "sdfscli VOLUME index stop [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "A conversion of the index cannot be stopped.", "", "Example:", "  sdfscli pool0 index stop"})
final class IndexStopCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    IndexCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        IndexCommand index = Objects.requireNonNull(parent);
        index.print(json, index.ask(IndexControl.STOP, Map.of()));
        return ExitCode.OK;
    }
}
