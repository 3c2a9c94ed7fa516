package org.opendedup.sar.sim.estimate;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.ssd.SsdSize;

/**
 * Statistics of the references to chunks, from a {@link ChunkSample}. Numbers of chunks and their bytes are
 * Horvitz-Thompson estimates: each chunk of the sample represents a number of chunks given by the sample's share, and
 * the variance is that of independent draws. For reads, those of <em>rare</em> chunks are estimated and subtracted from
 * the known total: a single chunk with very many references, which may or may not be in the sample, then does no harm.
 */
final class References {
    /** Numbers of references from which the report counts chunks. */
    private static final int[] THRESHOLDS = {2, 3, 5, 10};

    private final List<ChunkSample.CountClass> classes;
    private final double share;
    private final long dataBytes;

    /** @param dataBytes bytes of all references */
    References(ChunkSample sample, long dataBytes) {
        classes = sample.classes();
        share = sample.share();
        this.dataBytes = dataBytes;
    }

    /** Returns the different chunks with at least {@code atLeast} references. */
    Figure chunks(int atLeast) {
        double chunks = 0;
        for (ChunkSample.CountClass each : classes) {
            chunks += each.count() >= atLeast ? each.chunks() : 0;
        }
        return new Figure(chunks / share, error(chunks));
    }

    /** Returns the bytes of these chunks, each counted once. */
    Figure bytes(int atLeast) {
        double bytes = 0;
        double squares = 0;
        for (ChunkSample.CountClass each : classes) {
            if (each.count() >= atLeast) {
                bytes += each.bytes();
                squares += each.squares();
            }
        }
        return new Figure(bytes / share, error(squares));
    }

    /** Returns the share of the bytes that are read from these chunks when everything is read once. */
    Figure readShare(int atLeast) {
        double rareBytes = 0;
        double squares = 0;
        for (ChunkSample.CountClass each : classes) {
            if (each.count() < atLeast) {
                rareBytes += (double) each.count() * each.bytes();
                squares += (double) each.count() * each.count() * each.squares();
            }
        }
        double all = Math.max(1, dataBytes);
        double value = dataBytes == 0 ? 0 : 1 - rareBytes / share / all;
        return new Figure(Math.max(0, Math.min(1, value)), error(squares) / all);
    }

    /** @param squares sum of the squares of what the sample's chunks contribute */
    private double error(double squares) {
        return Math.sqrt(squares * (1 - share)) / share;
    }

    /** Returns the table of the report. */
    List<Estimate.ReferenceRow> table() {
        List<Estimate.ReferenceRow> rows = new ArrayList<>();
        for (int atLeast : THRESHOLDS) {
            rows.add(new Estimate.ReferenceRow(atLeast, chunks(atLeast), bytes(atLeast), readShare(atLeast)));
        }
        return rows;
    }

    /**
     * Returns what an SSD must hold so that this share of the bytes of a full restore is read from it: the chunks with
     * the most references first, because they give the most reads for their size.
     *
     * @param target a share, 0 to 1
     * @param copyRatio bytes of an SSD's copies for each byte of their chunks
     */
    Estimate.SsdRow ssd(double target, double copyRatio) {
        double below = readShare(Integer.MAX_VALUE).value();
        for (int i = classes.size() - 1; i >= 0; i--) {
            int count = classes.get(i).count();
            if (count < 2) {
                break;
            }
            double reached = readShare(count).value();
            if (reached >= target) {
                double ofClass = reached > below ? Math.max(0, (target - below) / (reached - below)) : 1;
                double bytes = between(bytes(count + 1), bytes(count), ofClass);
                double chunks = between(chunks(count + 1), chunks(count), ofClass);
                return row(target, true, target, bytes * copyRatio, chunks, count);
            }
            below = reached;
        }
        double bytes = bytes(2).value() * copyRatio;
        return row(target, false, readShare(2).value(), bytes, chunks(2).value(), 2);
    }

    private static double between(Figure less, Figure more, double share) {
        return less.value() + share * (more.value() - less.value());
    }

    private static Estimate.SsdRow row(
            double target, boolean reachable, double readShare, double copyBytes, double copies, int leastReferences) {
        return new Estimate.SsdRow(
                target,
                reachable,
                readShare,
                SsdSize.capacityFor(Math.round(copyBytes)),
                Math.round(copies * SsdSize.MAP_TABLE_BYTES_PER_COPY),
                leastReferences);
    }
}
