package org.opendedup.sar.sim;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.restore.LookaheadPaperCommand;
import org.opendedup.sar.sim.sar.SarPaperCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sar-sim paper}: runs the complete evaluation of a paper. */
@Command(
        name = "paper",
        sortOptions = false,
        description = {"Runs the evaluation of a paper as a whole and writes its figures as a report.", ""},
        commandListHeading = "%nPapers:%n",
        subcommands = {LookaheadPaperCommand.class, SarPaperCommand.class})
public final class PaperCommand implements Runnable {
    @Spec
    @Nullable
    CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    boolean help;

    @Override
    public void run() {
        throw new ParameterException(Objects.requireNonNull(spec).commandLine(), "name a paper: lookahead or sar");
    }
}
