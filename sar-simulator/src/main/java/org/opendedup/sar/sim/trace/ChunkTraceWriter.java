package org.opendedup.sar.sim.trace;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes a plain chunk trace in the format of {@link ChunkTraceReader}. */
public final class ChunkTraceWriter implements ChunkTraceVisitor, AutoCloseable {
    private final BufferedWriter out;

    /** Makes the file, or empties it. */
    public ChunkTraceWriter(Path file) throws IOException {
        out = Files.newBufferedWriter(file);
    }

    @Override
    public void version(int number) throws IOException {
        write("# version " + number);
    }

    @Override
    public void chunk(long fingerprint, int bytes) throws IOException {
        write(Long.toHexString(fingerprint) + " " + bytes);
    }

    private void write(String line) throws IOException {
        out.write(line);
        out.write('\n');
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
