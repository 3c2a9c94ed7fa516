package org.opendedup.sar.sim.options;

import picocli.CommandLine.Option;

/** {@code --help} without {@code --version}, which has another meaning in some commands. */
public final class HelpOption {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    boolean help;
}
