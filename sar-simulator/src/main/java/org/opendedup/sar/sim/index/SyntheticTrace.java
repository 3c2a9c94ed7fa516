package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.sim.trace.BackupVersion;
import org.opendedup.sar.sim.trace.DriftingSeries;
import org.opendedup.sar.sim.trace.SeriesParameters;

/** Synthetic traces like the kinds that the SiLo paper has (Table 1). Its own are not public. */
enum SyntheticTrace {
    /** Full backups, each like the one before: strong locality and similarity, as Linux-set and Full-set. */
    STRONG {
        @Override
        List<BackupVersion> versions(int chunks, int run, long seed) throws IOException {
            return DriftingSeries.versions(new SeriesParameters(10, chunks, run, 0.03, 0.015, 0.01, 0.05, seed));
        }
    },
    /** A full backup, then only the files that changed since the version before: weak locality, as Inc-set. */
    INCREMENTAL {
        @Override
        List<BackupVersion> versions(int chunks, int run, long seed) throws IOException {
            List<BackupVersion> full =
                    DriftingSeries.versions(new SeriesParameters(20, chunks, run, 0.03, 0.015, 0.01, 0.05, seed));
            List<BackupVersion> incremental = new ArrayList<>(List.of(full.get(0)));
            for (int number = 1; number < full.size(); number++) {
                incremental.add(changedFiles(full.get(number - 1), full.get(number)));
            }
            return incremental;
        }
    },
    /**
     * One full backup whose runs repeat earlier ones, so that the deduplication factor is about 1.7: weak locality and
     * similarity, as One-set.
     */
    WEAK {
        @Override
        List<BackupVersion> versions(int chunks, int run, long seed) throws IOException {
            return DriftingSeries.versions(new SeriesParameters(1, chunks, run, 0, 0, 0, 0.41, seed));
        }
    };

    /**
     * Makes the trace.
     *
     * @param chunks chunks of the first version
     * @param run mean number of chunks of a run: changes and repetitions are in runs
     */
    abstract List<BackupVersion> versions(int chunks, int run, long seed) throws IOException;

    /** Returns an incremental backup: the files of {@code now} that have a chunk which {@code before} has not. */
    static BackupVersion changedFiles(BackupVersion before, BackupVersion now) {
        LongHashSet known = new LongHashSet();
        for (int chunk = 0; chunk < before.chunks(); chunk++) {
            known.add(before.fingerprint(chunk));
        }
        BackupVersion changed = new BackupVersion();
        int start = 0;
        boolean isNew = false;
        for (int chunk = 0; chunk < now.chunks(); chunk++) {
            isNew |= !known.contains(now.fingerprint(chunk));
            boolean ends = TraceFiles.ends(TraceSegment.mixed(now.fingerprint(chunk)), chunk + 1 - start);
            if (ends || chunk + 1 == now.chunks()) {
                if (isNew) {
                    changed.addRun(now, start, chunk + 1 - start);
                }
                start = chunk + 1;
                isNew = false;
            }
        }
        return changed;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
