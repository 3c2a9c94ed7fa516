package org.opendedup.sar.sim.index;

import picocli.CommandLine.Option;

/** How large a synthetic trace is, and which one: options of the commands that make one. */
final class SyntheticSize {
    @Option(
            names = "--chunks",
            paramLabel = "N",
            defaultValue = "100000",
            description = "--synthetic: chunks in the first version, 8 KiB on average. Default: ${DEFAULT-VALUE}.")
    int chunks;

    @Option(
            names = "--run",
            paramLabel = "N",
            defaultValue = "40",
            description = "--synthetic: average number of chunks in a run that changes or repeats. Default:"
                    + " ${DEFAULT-VALUE}.")
    int run;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "--synthetic: seed. Default: ${DEFAULT-VALUE}.")
    long seed;
}
