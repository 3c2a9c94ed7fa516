package org.opendedup.sar.sdfs.cli;

import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME tier}: the fast tier for new files. {@link TierControl} answers its requests in the daemon. */
@Command(
        name = "tier",
        description = "Shows and controls the fast tier for new files of a volume.",
        customSynopsis = "sdfscli VOLUME tier COMMAND [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {
            TierStatusCommand.class,
            TierExplainCommand.class,
            TierMigrateCommand.class,
            TierPinCommand.class,
            TierUnpinCommand.class,
            TierReloadCommand.class,
            TierAttachCommand.class
        },
        footer = {
            "",
            "A volume made with mkfs.sdfs --tier-mode=tddfs stores new files whole on the SSD, as raw files. They are",
            "deduplicated when they are migrated, the coldest first, when the SSD fills. Folders may differ:",
            "  setfattr -n user.sdfs.tier -v sar FOLDER      # new files there are stored in chunks at once",
            "  setfattr -n user.sdfs.tier -v tddfs FOLDER    # new files there are raw",
            "The fast tier is the only place of a raw file, unless the journal stored it in chunks as well."
        })
final class TierCommand extends CommandGroup {
    TierCommand() {
        super(TierControl.COMMAND);
    }
}
