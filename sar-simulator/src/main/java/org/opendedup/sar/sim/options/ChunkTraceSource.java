package org.opendedup.sar.sim.options;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --trace}: a chunk trace, one of several sources of chunks. A command adds its others. */
public abstract class ChunkTraceSource {
    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Chunk trace, plain or compressed with xz; 'sar-sim restore --help' describes it.")
    @Nullable
    Path trace;

    /** Returns the trace; null if another source was chosen. */
    public final @Nullable Path trace() {
        return trace;
    }

    /** Returns a name without the folder, so that a report does not depend on the location. */
    public final String name() {
        return trace == null ? nameOfOther() : String.valueOf(trace.getFileName());
    }

    /** Returns the name of the source that is not a trace. */
    protected abstract String nameOfOther();
}
