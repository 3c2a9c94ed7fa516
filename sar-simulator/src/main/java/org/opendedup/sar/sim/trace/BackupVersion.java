package org.opendedup.sar.sim.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One version of backed up data, in memory: the fingerprint and the length of each chunk, 12 bytes a chunk. */
public final class BackupVersion {
    private long[] fingerprints = new long[1 << 10];
    private int[] lengths = new int[1 << 10];
    private int chunks;
    private long bytes;

    /** Reads all versions of a trace. */
    public static List<BackupVersion> read(Path trace) throws IOException {
        Collecting collecting = new Collecting();
        ChunkTraceReader.read(trace, collecting);
        return collecting.versions;
    }

    /** Adds a chunk at the end. */
    public void add(long fingerprint, int length) {
        if (chunks == lengths.length) {
            fingerprints = Arrays.copyOf(fingerprints, chunks * 2);
            lengths = Arrays.copyOf(lengths, chunks * 2);
        }
        fingerprints[chunks] = fingerprint;
        lengths[chunks++] = length;
        bytes += length;
    }

    /** Adds chunks of another version, or of this one. */
    public void addRun(BackupVersion source, int from, int count) {
        for (int chunk = from; chunk < from + count; chunk++) {
            add(source.fingerprints[chunk], source.lengths[chunk]);
        }
    }

    /** Returns the number of chunks. */
    public int chunks() {
        return chunks;
    }

    /** Returns the length of all chunks, in bytes. */
    public long bytes() {
        return bytes;
    }

    public long fingerprint(int chunk) {
        return fingerprints[chunk];
    }

    /** Returns the length of a chunk, in bytes. */
    public int length(int chunk) {
        return lengths[chunk];
    }

    /** Reports the chunks in their order. */
    void emit(ChunkTraceVisitor visitor) throws IOException {
        for (int chunk = 0; chunk < chunks; chunk++) {
            visitor.chunk(fingerprints[chunk], lengths[chunk]);
        }
    }

    /** Keeps the versions of a trace that it visits. */
    static final class Collecting implements ChunkTraceVisitor {
        final List<BackupVersion> versions = new ArrayList<>();
        private BackupVersion last = new BackupVersion();

        @Override
        public void version(int number) {
            last = new BackupVersion();
            versions.add(last);
        }

        @Override
        public void chunk(long fingerprint, int bytes) {
            last.add(fingerprint, bytes);
        }
    }
}
