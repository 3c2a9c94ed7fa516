package org.opendedup.sar.sim;

import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.restore.LookaheadPaperCommand;
import org.opendedup.sar.sim.sar.SarPaperCommand;
import picocli.CommandLine.Command;

/** {@code sar-sim paper}: runs the complete evaluation of a paper. */
@Command(
        name = "paper",
        sortOptions = false,
        description = {"Runs the complete evaluation of a paper and writes its figures as a report.", ""},
        commandListHeading = "%nPapers:%n",
        subcommands = {LookaheadPaperCommand.class, SarPaperCommand.class})
final class PaperCommand extends SimCommand {
    @Override
    public Integer call() {
        throw usage("name a paper: lookahead or sar");
    }
}
