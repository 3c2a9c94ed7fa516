package org.opendedup.sar.sim.trace;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A synthetic series of full backups whose versions drift: each is the one before, with runs of chunks replaced, added
 * and removed at random. The same parameters make the same series, on any machine. It replaces the lookahead paper's
 * data sets, which are not public, and has the properties that matter according to the paper: the amount of duplicates,
 * and how they are scattered.
 */
public final class DriftingSeries {
    private static final int MIN_CHUNK_BYTES = 2 << 10;
    private static final int MAX_CHUNK_BYTES = 64 << 10;
    /**
     * Mean length of a chunk above the minimum; with the bounds above, chunks have 8 KiB on average, as with
     * content-defined chunking.
     */
    private static final int EXCESS_BYTES = 6 << 10;

    private final SeriesParameters parameters;
    private final SplittableRandom random;
    private BackupVersion last = new BackupVersion();
    private long fingerprints;

    private DriftingSeries(SeriesParameters parameters) {
        this.parameters = parameters;
        random = new SplittableRandom(parameters.seed());
    }

    /** Reports a series from its first version to its last. Memory: two versions at a time, 12 bytes a chunk. */
    public static void emit(SeriesParameters parameters, ChunkTraceVisitor visitor) throws IOException {
        var series = new DriftingSeries(parameters);
        for (int number = 1; number <= parameters.versions(); number++) {
            series.last = number == 1 ? series.first() : series.next();
            visitor.version(number);
            series.last.emit(visitor);
        }
    }

    /** Makes the versions of a series, all in memory. */
    public static List<BackupVersion> versions(SeriesParameters parameters) throws IOException {
        var collecting = new BackupVersion.Collecting();
        emit(parameters, collecting);
        return collecting.versions;
    }

    private BackupVersion first() {
        var version = new BackupVersion();
        while (version.chunks() < parameters.chunks()) {
            addNewRun(version, version, Math.min(runLength(), parameters.chunks() - version.chunks()));
        }
        return version;
    }

    private BackupVersion next() {
        var version = new BackupVersion();
        for (int from = 0; from < last.chunks(); ) {
            int length = Math.min(runLength(), last.chunks() - from);
            double fate = random.nextDouble();
            if (fate < parameters.changed()) {
                addNewRun(version, last, length);
            } else if (fate >= parameters.changed() + parameters.removed()) {
                version.addRun(last, from, length);
            }
            if (random.nextDouble() < parameters.added()) {
                addNewRun(version, last, runLength());
            }
            from += length;
        }
        return version;
    }

    private void addNewRun(BackupVersion version, BackupVersion source, int length) {
        if (source.chunks() > 0 && random.nextDouble() < parameters.duplicates()) {
            int from = random.nextInt(source.chunks());
            version.addRun(source, from, Math.min(length, source.chunks() - from));
        } else {
            for (int i = 0; i < length; i++) {
                double excess = -StrictMath.log(1 - random.nextDouble()) * EXCESS_BYTES;
                version.add(++fingerprints, (int) Math.min(MIN_CHUNK_BYTES + excess, MAX_CHUNK_BYTES));
            }
        }
    }

    /** Draws a length from a geometric distribution. */
    private int runLength() {
        return 1 + (int) (-StrictMath.log(1 - random.nextDouble()) * (parameters.runChunks() - 1));
    }
}
