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

/** {@code sdfscli VOLUME index status}: class and state of the fingerprint index. */
@Command(
        name = "status",
        description = {
            "Shows class and state of the fingerprint index, and what it missed.",
            "",
            "Also the progress of a conversion or an exact pass, and how much is estimated to be stored more than",
            "once. Of a chunkstash index the bytes of its log and of the disk index behind it, and how often lookups",
            "asked the latter.",
            ""
        },
        customSynopsis = "sdfscli VOLUME index status [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 index status --json"})
final class IndexStatusCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    IndexCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        IndexCommand index = Objects.requireNonNull(parent);
        index.print(json, index.ask(IndexControl.STATUS, Map.of()));
        return ExitCode.OK;
    }
}
