package org.opendedup.sar.sim.data;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;

/**
 * Converts real data to a chunk trace: each path is a version, its files one after the other. Zero runs are left out,
 * because nothing is stored for them. Nothing is skipped: a file that can't be read is an error.
 */
public final class DataTrace {
    private DataTrace() {}

    /**
     * Reads the paths, in their order, as versions 1 and on.
     *
     * @throws IOException if a file can't be read; names it
     */
    public static void read(List<Path> paths, Chunking chunking, ChunkTraceVisitor visitor) throws IOException {
        try (DataChunks chunks = new DataChunks(chunking, segment -> emit(segment, visitor))) {
            DataFiles.walk(paths, new DataFiles.Visitor() {
                @Override
                public void path(int number, Path start) throws IOException {
                    visitor.version(number + 1);
                }

                @Override
                public void file(Path file, long bytes) throws IOException {
                    try {
                        chunks.read(file);
                    } catch (IOException e) {
                        unreadable(file, e);
                    }
                }

                @Override
                public void unreadable(Path path, IOException why) throws IOException {
                    throw new IOException(DataFiles.problem(path, why), why);
                }
            });
        }
    }

    private static void emit(Segment segment, ChunkTraceVisitor visitor) throws IOException {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (!segment.isZero(chunk)) {
                visitor.chunk(DataChunks.fingerprint(segment, chunk), segment.length(chunk));
            }
        }
    }
}
