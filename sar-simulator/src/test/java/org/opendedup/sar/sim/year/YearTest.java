package org.opendedup.sar.sim.year;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.sim.trace.BackupVersion;
import org.opendedup.sar.sim.trace.SeriesParameters;

/** Days of backups on a real volume, and the series that they store. */
@Timeout(120)
class YearTest {
    private static final Compression COMPRESSION = new Compression(Compression.Codec.ZSTD, 1, 64 << 10);
    private static final int DAYS = 20;
    private static final int KEEP = 3;

    @TempDir
    Path folder;

    /** A trace of four versions with some 10 % of new chunks each. */
    private static List<BackupVersion> trace(int chunks) throws IOException {
        return BackupVersion.of(new SeriesParameters(4, chunks, 60, 0.08, 0.03, 0.03, 0.2, 7));
    }

    private static List<BackupVersion> series(double drift, long seed) throws IOException {
        List<BackupVersion> trace = trace(8000);
        CarriedOnSeries series = new CarriedOnSeries(trace, trace, drift, seed);
        List<BackupVersion> made = new ArrayList<>();
        for (int day = 0; day < DAYS; day++) {
            made.add(series.next());
        }
        return made;
    }

    private static List<Long> fingerprints(BackupVersion backup) {
        List<Long> fingerprints = new ArrayList<>();
        for (int chunk = 0; chunk < backup.chunks(); chunk++) {
            fingerprints.add(backup.fingerprint(chunk));
        }
        return fingerprints;
    }

    /** Shares of each backup's chunks that no earlier one has, without the first backup. */
    private static List<Double> newShares(List<BackupVersion> series) {
        Set<Long> seen = new HashSet<>();
        List<Double> shares = new ArrayList<>();
        for (BackupVersion backup : series) {
            long fresh = fingerprints(backup).stream().filter(seen::add).count();
            shares.add((double) fresh / backup.chunks());
        }
        return shares.subList(1, shares.size());
    }

    private static double mean(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    }

    @Test
    void theSameSeedMakesTheSameSeries() throws IOException {
        List<List<Long>> one = series(1, 5).stream().map(YearTest::fingerprints).toList();
        assertEquals(one, series(1, 5).stream().map(YearTest::fingerprints).toList());
        assertNotEquals(one, series(1, 6).stream().map(YearTest::fingerprints).toList());
    }

    @Test
    void daysDriftLikeTheTraceAndKeepItsSize() throws IOException {
        List<BackupVersion> trace = trace(8000);
        List<BackupVersion> made = series(1, TestSeed.next());
        assertEquals(fingerprints(trace.get(3)), fingerprints(made.get(3)));
        double ofTrace = mean(newShares(trace));
        double ofDays = mean(newShares(made).subList(3, DAYS - 1));
        // Of 400 seeds: 0.57 to 1.17, and 0.82 to 1.35. The trace has only some thirty stretches.
        assertTrue(ofDays > 0.45 * ofTrace && ofDays < 1.4 * ofTrace, () -> ofDays + " of " + ofTrace);
        double bytes = made.subList(4, DAYS).stream()
                .mapToLong(BackupVersion::bytes)
                .average()
                .orElseThrow();
        double size = bytes / trace.get(3).bytes();
        assertTrue(size > 0.7 && size < 1.5, () -> "mean size " + size);
        // The control: a series with half of the drift has fewer new chunks.
        double less = mean(newShares(series(0.5, TestSeed.next())).subList(3, DAYS - 1));
        assertTrue(less < 0.9 * ofDays, () -> less + " of " + ofDays);
    }

    @Test
    void aWrongByteIsNoticed() throws IOException {
        BackupVersion backup = trace(500).get(0);
        try (BackupStore store =
                BackupStore.create(folder, Chunking.VARIABLE_SHA256, COMPRESSION, new ChunkContents())) {
            store.store("backup", backup);
            store.verify("backup", backup);
            store.overwrite("backup", backup.bytes() / 2, new byte[] {1, 2, 3, 4});
            IOException wrong = assertThrows(IOException.class, () -> store.verify("backup", backup));
            assertTrue(String.valueOf(wrong.getMessage()).contains("backup, offset"), wrong::getMessage);
            store.store("longer", backup);
            store.overwrite("longer", backup.bytes(), new byte[] {1});
            assertThrows(IOException.class, () -> store.verify("longer", backup));
        }
    }

    @Test
    void collectionsKeepAVolumeNearTheSizeOfAFreshOne() throws IOException {
        List<BackupVersion> trace = trace(1500);
        YearSettings settings =
                new YearSettings(folder, DAYS, KEEP, 1, TestSeed.next(), Chunking.VARIABLE_SHA256, COMPRESSION);
        YearRun run = new YearRun(settings, trace, trace);
        List<DayRow> days = new ArrayList<>();
        RunSummary collected = run.play(4, 0.03, 0, days::add);
        assertEquals(DAYS, days.size());
        assertTrue(collected.storedRatio() < 1.1, collected::toString);
        assertTrue(days.stream().anyMatch(day -> day.returnedBytes() > 0), days::toString);
        // The control: without collections nothing comes back.
        RunSummary never = run.play(0, 0.03, 0, day -> {});
        assertTrue(never.storedRatio() > 1.3, never::toString);
    }
}
