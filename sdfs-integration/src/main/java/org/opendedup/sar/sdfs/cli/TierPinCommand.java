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

/** {@code sdfscli VOLUME tier pin}: keeps raw files on the fast tier. */
@Command(
        name = "pin",
        description = {
            "Keeps raw files on the fast tier: they are not migrated.",
            "",
            "Sets the attribute user.sdfs.tier of each path to pin. For a folder: new files below it begin on the fast",
            "tier and stay there, and the raw files below it are pinned. Files that lie in chunks already stay there.",
            ""
        },
        customSynopsis = "sdfscli VOLUME tier pin PATH... [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "The journal stores pinned files in chunks as well, so that a lost SSD does not lose them. Pinned files",
            "count as use of the capacity: if they fill it, new files are stored in chunks.",
            "",
            "Example:",
            "  sdfscli pool0 tier pin /mnt/pool0/vm"
        })
final class TierPinCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Mixin
    TierPaths paths = new TierPaths();

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        return paths.run(parent, TierControl.PIN, Map.of(), report -> TierText.pinned(report, true));
    }
}
