package org.opendedup.sar.sim.year;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.sim.trace.BackupVersion;
import org.opendedup.sar.volume.VolumeStatistics;

/**
 * Plays the days of a year on a volume: stores a backup, removes the oldest one if more than wanted are kept, and
 * collects garbage at the end of some days. Each day's newest backup and a random older one are read back and compared.
 */
final class YearRun {
    private static final double NANOS = 1e9;

    private final YearSettings settings;
    private final List<BackupVersion> trace;
    private final List<BackupVersion> sample;
    private final ChunkContents contents = new ChunkContents();

    /** A backup and the name of its file. */
    record Kept(String name, BackupVersion backup) {}

    /**
     * What there is at the end of a volume's days.
     *
     * @param statistics after the volume was closed and opened again
     * @param restore of the newest backup
     * @param oldest restore of the oldest backup that is kept
     */
    record End(VolumeStatistics statistics, long allocatedBytes, FileFragmentation restore, FileFragmentation oldest) {}

    /**
     * @param trace all versions of the trace
     * @param sample those with which the series begins
     */
    YearRun(YearSettings settings, List<BackupVersion> trace, List<BackupVersion> sample) {
        this.settings = settings;
        this.trace = trace;
        this.sample = sample;
    }

    /**
     * Plays all days.
     *
     * @param everyDays days from one collection to the next, and one on the last day; 0: no collections
     * @param arrangeGain gain for which chunks are moved before a collection; 0: no arrangements
     * @param eachDay receives each day's row
     * @throws IOException if a byte that was read back is wrong, or the volume failed
     */
    RunSummary play(int everyDays, double garbageShare, double arrangeGain, Consumer<DayRow> eachDay)
            throws IOException {
        List<DayRow> rows = new ArrayList<>();
        Deque<Kept> kept = new ArrayDeque<>();
        End end;
        try (Days days = new Days(everyDays, garbageShare, arrangeGain, kept)) {
            for (int day = 1; day <= settings.days(); day++) {
                DayRow row = days.play(day);
                rows.add(row);
                eachDay.accept(row);
            }
            end = days.end();
        }
        return summary(everyDays, garbageShare, arrangeGain, rows, kept.size(), end, fresh(kept));
    }

    /** Stores only the kept backups in a new volume. */
    private End fresh(Iterable<Kept> kept) throws IOException {
        Deque<Kept> stored = new ArrayDeque<>();
        try (Days days = new Days(0, 0, 0, stored)) {
            for (Kept each : kept) {
                days.store(each);
            }
            return days.end();
        }
    }

    private RunSummary summary(
            int everyDays, double garbageShare, double arrangeGain, List<DayRow> rows, int kept, End end, End fresh) {
        return new RunSummary(
                everyDays,
                garbageShare,
                arrangeGain,
                settings.days(),
                kept,
                end.statistics.uniqueBytes(),
                end.statistics.garbageBytes(),
                end.statistics.storedBytes(),
                fresh.statistics.storedBytes(),
                (double) end.statistics.storedBytes() / fresh.statistics.storedBytes(),
                end.allocatedBytes,
                fresh.allocatedBytes,
                (double) end.allocatedBytes / fresh.allocatedBytes,
                rows.stream().mapToLong(DayRow::arrangedBytes).sum(),
                rows.stream().mapToLong(DayRow::copiedBytes).sum(),
                rows.stream().mapToLong(DayRow::returnedBytes).sum(),
                rows.stream().mapToLong(DayRow::victimBytes).sum(),
                rows.stream().mapToDouble(DayRow::collectionSeconds).sum(),
                end.restore.bytesPerSecond(DiskModel.HDD),
                end.restore.requests(),
                end.restore.diskBytes(),
                end.oldest.bytesPerSecond(DiskModel.HDD),
                end.oldest.requests(),
                fresh.restore.bytesPerSecond(DiskModel.HDD),
                fresh.restore.requests(),
                fresh.restore.diskBytes(),
                fresh.oldest.bytesPerSecond(DiskModel.HDD),
                fresh.oldest.requests());
    }

    /**
     * A volume during its days. It is removed at their end; that of a run which failed stays, for whoever examines it.
     */
    private final class Days implements AutoCloseable {
        private final int everyDays;
        private final double garbageShare;
        private final double arrangeGain;
        private final Deque<Kept> kept;
        private final Path folder;
        private final BackupStore store;
        private final CarriedOnSeries series = new CarriedOnSeries(trace, sample, settings.drift(), settings.seed());
        /** Draws the older backup to read back; apart from the series, which must not depend on it. */
        private final SplittableRandom random = new SplittableRandom(settings.seed() + 1);

        private final Set<Long> seen = new HashSet<>();
        private boolean ended;

        Days(int everyDays, double garbageShare, double arrangeGain, Deque<Kept> kept) throws IOException {
            this.everyDays = everyDays;
            this.garbageShare = garbageShare;
            this.arrangeGain = arrangeGain;
            this.kept = kept;
            folder = Files.createTempDirectory(settings.work(), "volume");
            store = BackupStore.create(folder, settings.chunking(), settings.compression(), contents);
        }

        void store(Kept each) throws IOException {
            kept.addLast(each);
            store.store(each.name(), each.backup());
        }

        DayRow play(int day) throws IOException {
            Kept newest = new Kept("day" + day, series.next());
            long newBytes = newBytes(newest.backup());
            store(newest);
            if (kept.size() > settings.keep()) {
                store.remove(kept.removeFirst().name());
            }
            @Nullable ArrangementReport arrangement = null;
            @Nullable CollectionReport collection = null;
            long start = System.nanoTime();
            double seconds = 0;
            if (everyDays > 0 && (day % everyDays == 0 || day == settings.days())) {
                arrangement = arrangeGain == 0 ? null : store.arrange(arrangeGain);
                collection = store.collect(garbageShare);
                seconds = (System.nanoTime() - start) / NANOS;
            }
            VolumeStatistics now = store.statistics();
            FileFragmentation restore = store.fragmentation(newest.name());
            DayRow row = new DayRow(
                    everyDays,
                    garbageShare,
                    arrangeGain,
                    day,
                    day > sample.size(),
                    newest.backup().bytes(),
                    newBytes,
                    now.logicalBytes(),
                    now.uniqueBytes(),
                    now.garbageBytes(),
                    now.storedBytes(),
                    store.allocatedBytes(),
                    arrangement == null ? 0 : arrangement.movedBytes(),
                    arrangement == null ? 0 : arrangement.replacedReferences(),
                    collection == null ? 0 : collection.copiedBytes(),
                    collection == null ? 0 : collection.returnedBytes() + collection.strayBytes(),
                    collection == null ? 0 : collection.victimBytes(),
                    seconds,
                    restore.bytesPerSecond(DiskModel.HDD),
                    restore.requests(),
                    restore.diskBytes());
            store.verify(newest.name(), newest.backup());
            verifyAnOlderOne();
            return row;
        }

        private void verifyAnOlderOne() throws IOException {
            if (kept.size() > 1) {
                Kept older = kept.stream()
                        .skip(random.nextInt(kept.size() - 1))
                        .findFirst()
                        .orElseThrow();
                store.verify(older.name(), older.backup());
            }
        }

        private long newBytes(BackupVersion backup) {
            long bytes = 0;
            for (int chunk = 0; chunk < backup.chunks(); chunk++) {
                bytes += seen.add(backup.fingerprint(chunk)) ? backup.length(chunk) : 0;
            }
            return bytes;
        }

        /** Reads back all kept backups and checks the volume. */
        End end() throws IOException {
            store.reopen();
            End end = new End(
                    store.statistics(),
                    store.allocatedBytes(),
                    store.fragmentation(kept.getLast().name()),
                    store.fragmentation(kept.getFirst().name()));
            for (Kept each : kept) {
                store.verify(each.name(), each.backup());
            }
            store.check();
            ended = true;
            return end;
        }

        @Override
        public void close() throws IOException {
            store.close();
            if (ended) {
                removeTree(folder);
            }
        }
    }

    private static void removeTree(Path folder) throws IOException {
        List<Path> paths;
        try (Stream<Path> tree = Files.walk(folder)) {
            paths = tree.sorted(Comparator.reverseOrder()).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (Path path : paths) {
            Files.delete(path);
        }
    }
}
