package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.TierReport;
import org.opendedup.sar.sdfs.cli.report.TierText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME tier explain}: where files lie. */
@Command(
        name = "explain",
        description = {
            "Shows for each file where it lies, when it was last used, and when it is migrated.",
            "",
            "For a folder, shows where its new files are stored first.",
            ""
        },
        customSynopsis = "sdfscli VOLUME tier explain PATH... [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Places: in chunks                deduplicated, in containers, as in a volume without a fast tier",
            "        on the fast tier only    whole; a lost fast tier loses it",
            "        on both                  whole, and in chunks as well: a lost fast tier loses nothing of it",
            "        lost                     only the fast tier had it",
            "",
            "A migrated file stays in chunks, also if it is written again. A file that is emptied and written anew",
            "begins on the fast tier, if its folder wants that.",
            "",
            "Examples:",
            "  sdfscli pool0 tier explain /mnt/pool0/incoming/a.img /mnt/pool0/archive",
            "  sdfscli pool0 tier explain incoming/a.img --json | jq -r '.files[].place'"
        })
final class TierExplainCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Parameters(
            arity = "1..*",
            paramLabel = "PATH",
            description = "Files and folders: absolute paths in the mounted volume, or paths from the volume's root.")
    List<Path> files = List.of();

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        TierCommand tier = Objects.requireNonNull(parent);
        var explained = new ArrayList<Map<String, Object>>();
        for (Path file : files) {
            String path = tier.cli().pathInVolume(file);
            var one = new LinkedHashMap<String, Object>();
            one.put("path", path.isEmpty() ? "." : path);
            one.putAll(tier.ask(TierControl.EXPLAIN, Map.of("path", path)));
            explained.add(one);
        }
        if (tier.json(json)) {
            tier.print(Json.pretty(Map.of("files", explained)));
        } else {
            explained.forEach(one -> tier.print(TierText.explanation(
                    String.valueOf(one.get("path")), Json.record(one, TierReport.Explained.class))));
        }
        return ExitCode.OK;
    }
}
