package org.opendedup.sar.sim;

import org.opendedup.sar.sim.estimate.EstimateCommand;
import picocli.CommandLine;

/**
 * {@code sdfscli estimate}: the command {@code estimate} of sar-sim as a program of its own. An installation has the
 * simulator's jar for it, and none of the libraries that draw charts and read traces.
 */
public final class EstimateProgram {
    private static final String NAME = "sdfscli estimate";

    private EstimateProgram() {}

    public static void main(String[] arguments) {
        System.exit(SarSim.run(command(), arguments));
    }

    /** Returns the command under the name that users type, also for its manual page. */
    public static CommandLine command() {
        return new CommandLine(new EstimateCommand()).setCommandName(NAME);
    }
}
