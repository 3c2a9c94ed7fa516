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

/** {@code sdfscli VOLUME index store}: writes the index to its home. */
@Command(
        name = "store",
        description = {
            "Writes what is new of a chunkstash index to its home (mkfs.sdfs --index-home), as an unmount does.",
            "",
            "Returns when it is there. Run it after each backup if the volume stays mounted: if the SSD is lost, or",
            "given to others, only what was written since is read again from the containers.",
            ""
        },
        customSynopsis = "sdfscli VOLUME index store [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 index store"})
final class IndexStoreCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    IndexCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        IndexCommand index = Objects.requireNonNull(parent);
        index.print(json, index.ask(IndexControl.STORE, Map.of()));
        return ExitCode.OK;
    }
}
