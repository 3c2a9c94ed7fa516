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
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME tier unpin}: lets raw files be migrated again. */
@Command(
        name = "unpin",
        description = {
            "Lets pinned files be migrated again.",
            "",
            "Removes the attribute user.sdfs.tier where it is pin: of each path, and of all files and folders below",
            "it.",
            ""
        },
        customSynopsis = "sdfscli VOLUME tier unpin PATH... [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "The files stay on the fast tier until they are migrated: when they are the least recently used ones, or",
            "by sdfscli VOLUME tier migrate.",
            "",
            "Example:",
            "  sdfscli pool0 tier unpin /mnt/pool0/vm"
        })
final class TierUnpinCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Mixin
    TierPaths paths = new TierPaths();

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        return paths.run(parent, TierControl.UNPIN, Map.of(), report -> TierText.pinned(report, false));
    }
}
