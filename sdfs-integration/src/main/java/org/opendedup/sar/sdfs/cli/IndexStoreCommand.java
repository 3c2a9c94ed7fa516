package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
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
            "Shows the progress, and returns when it is there. Ctrl-C ends only the waiting. Run it after each backup",
            "if the volume stays mounted: if the SSD is lost, or given to others, only what was written since is read",
            "again from the containers.",
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
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        IndexCommand index = Objects.requireNonNull(parent);
        long began = System.nanoTime();
        Map<String, Object> end = index.follow(index.ask(IndexControl.STORE, Map.of()), report -> line(report, began));
        Object error = end.get(IndexControl.STORE_ERROR);
        if (error != null) {
            throw new CommandFailedException(String.valueOf(error));
        }
        index.print(json, end);
        return ExitCode.OK;
    }

    private static @Nullable String line(Map<String, Object> report, long began) {
        if (!report.containsKey(IndexControl.STORING)) {
            return null;
        }
        Map<String, Object> storing = Json.object(report, IndexControl.STORING);
        return SarWait.bar(
                Json.number(storing, IndexControl.STORED_BYTES) >> 20,
                Json.number(storing, IndexControl.NEW_BYTES) >> 20,
                System.nanoTime() - began,
                "MiB");
    }
}
