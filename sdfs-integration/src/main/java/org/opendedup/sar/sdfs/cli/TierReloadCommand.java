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

/** {@code sdfscli VOLUME tier reload}: reads files, so that SAR can copy their chunks. */
@Command(
        name = "reload",
        description = {
            "Reads files that lie in chunks once, in sequence, as a program would read them.",
            "",
            "SAR counts that as a read of each chunk. It copies those to the SSD that were read from the disk before",
            "and that it wants there: mostly chunks that lie alone, not long runs that the disk reads well. So a file",
            "that was not read before may need two runs. With the policy open, the first read is enough. sar explain",
            "shows what is on the SSD then. Migrated files do not become raw again. Raw files are not read.",
            ""
        },
        customSynopsis = "sdfscli VOLUME tier reload PATH... [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "The read fills the restore cache, and makes the disk busy for as long as reading takes. Ctrl-C ends it.",
            "",
            "Examples:",
            "  sdfscli pool0 tier reload /mnt/pool0/vm/debian.img",
            "  sdfscli pool0 sar explain /mnt/pool0/vm/debian.img     # what is on the SSD now"
        })
final class TierReloadCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    TierCommand parent;

    @Mixin
    TierPaths paths = new TierPaths();

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        return paths.run(parent, TierControl.RELOAD, Map.of(), TierText::reloaded);
    }
}
