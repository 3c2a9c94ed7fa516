package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.report.TierText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME tier migrate}: deduplicates raw files now. */
@Command(
        name = "migrate",
        description = {
            "Migrates raw files now: stores them in chunks, deduplicated, and gives their space on the fast tier back.",
            "",
            "Works on files, and on all files below folders. Files in use are passed over and named. What was migrated",
            "is durable when the command ends, and when Ctrl-C ended it: the same command continues.",
            ""
        },
        customSynopsis = "sdfscli VOLUME tier migrate PATH... [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Pinned files are migrated as well, because they are named here; their folder stays pinned.",
            "Exit code 1 if files were in use, failed or are lost.",
            "",
            "Examples:",
            "  sdfscli pool0 tier migrate /mnt/pool0/incoming/a.img",
            "  sdfscli pool0 tier migrate . --wait                    # the whole volume; waits for files in use"
        })
final class TierMigrateCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Mixin
    TierPaths paths = new TierPaths();

    @Option(
            names = "--wait",
            description = "Try files in use again every second, until they are at rest. Ctrl-C ends that.")
    boolean wait;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        return paths.run(parent, TierControl.MIGRATE, Map.of("wait", wait ? 1 : 0), TierText::migrated);
    }
}
