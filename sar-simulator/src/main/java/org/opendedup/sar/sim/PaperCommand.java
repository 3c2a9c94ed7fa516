package org.opendedup.sar.sim;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.options.HelpOption;
import org.opendedup.sar.sim.restore.LookaheadPaperCommand;
import org.opendedup.sar.sim.sar.SarPaperCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sar-sim paper}: runs the complete evaluation of a paper. */
@Command(
        name = "paper",
        sortOptions = false,
        description = {"Runs the complete evaluation of a paper and writes its figures as a report.", ""},
        commandListHeading = "%nPapers:%n",
        subcommands = {LookaheadPaperCommand.class, SarPaperCommand.class})
final class PaperCommand implements Runnable {
    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    HelpOption help = new HelpOption();

    @Override
    public void run() {
        throw new ParameterException(Objects.requireNonNull(spec).commandLine(), "name a paper: lookahead or sar");
    }
}
