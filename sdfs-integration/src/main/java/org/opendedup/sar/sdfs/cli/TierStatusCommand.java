package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
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
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME tier status}: the fast tier of a mounted volume. */
@Command(
        name = "status",
        description = {"Shows the fast tier for new files: mode, use, migrations, and files that are lost.", ""},
        customSynopsis = "sdfscli VOLUME tier status [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Only there     raw files that are in no chunks: a lost fast tier loses them",
            "Pinned         raw files that are not migrated",
            "In use         raw files that programs have open: they are neither migrated nor stored in chunks",
            "               meanwhile",
            "Since mounted  files stored in chunks, which stay on the fast tier as well, and files migrated, which do",
            "               not. Ahead: those stored in chunks while nobody used the volume, so that migrating them",
            "               only deletes them",
            "Lost           files whose bytes were only on the fast tier, which does not have them any more. Reading",
            "               them gives an I/O error. Restore them from a backup, or delete them",
            "",
            "Examples:",
            "  sdfscli pool0 tier status",
            "  sdfscli pool0 tier status --json | jq -r '.lost[]'     # the lost files"
        })
final class TierStatusCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        TierCommand tier = Objects.requireNonNull(parent);
        Map<String, Object> status = tier.ask(TierControl.STATUS, Map.of());
        tier.print(json, status, TierText.status(tier.cli().name(), Json.record(status, TierReport.class)));
        return ExitCode.OK;
    }
}
