package org.opendedup.sar.sim.options;

import org.opendedup.sar.chunk.Chunking;
import picocli.CommandLine.Option;

/** {@code --chunking}: how data is cut into chunks. */
public final class ChunkingOption {
    @Option(
            names = {"--chunking", "--hash-type"},
            paramLabel = "TYPE",
            defaultValue = "VARIABLE_SHA256",
            description =
                    "Cut data into chunks as a volume of mkfs.sdfs does. VARIABLE_SHA256: by content, into 2 to 64"
                            + " KiB. SHA256: into 4 KiB each, for disk images. Default: ${DEFAULT-VALUE}.")
    Chunking chunking = Chunking.VARIABLE_SHA256;

    /** Returns the way of cutting that was chosen. */
    public Chunking chunking() {
        return chunking;
    }
}
