package org.opendedup.sar.sim.estimate;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.container.StoredSize;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.sim.data.DataChunks;
import org.opendedup.sar.sim.data.DataFiles;
import org.opendedup.sar.sim.data.SegmentSink;
import org.opendedup.sar.volume.VolumeMaintenance;
import org.opendedup.sar.volume.config.MemoryPlan;

/**
 * Reads data once and estimates what a volume would make of it. Finds the files twice: first to measure their size,
 * then to read them. For one use, by one thread.
 */
final class Estimator implements SegmentSink {
    /** Most bytes that are read if no share is given; of more data, a part of this size is read. */
    private static final long MAX_READ_UNASKED_BYTES = 256L << 30;
    /**
     * Most bytes whose frames are all compressed; of more data, a sample of frames of at most about this size is
     * compressed. Compressing them costs as much as everything else.
     */
    private static final long MAX_COMPRESSED_BYTES = 16L << 30;

    private final EstimateSettings settings;
    private final Progress progress;
    private final Consumer<String> problems;
    private final BooleanSupplier stopped;

    private final ChunkSample sample;
    private final FrameSample frames;
    private final RestoreModel restoreModel;
    private final Totals totals = new Totals();
    private final List<PathRead> pathsRead = new ArrayList<>();
    private RestoreModel.DiskWork diskWork = new RestoreModel.DiskWork(0, 0, 0);
    /** Counters of the path that is being read. */
    private Totals path = new Totals();

    private Estimator(
            EstimateSettings settings,
            FrameSample frames,
            Progress progress,
            Consumer<String> problems,
            BooleanSupplier stopped) {
        this.settings = settings;
        this.frames = frames;
        this.progress = progress;
        this.problems = problems;
        this.stopped = stopped;
        sample = new ChunkSample(settings.memoryBytes(), settings.seed());
        MemoryPlan plan = MemoryPlan.of(settings.budgetBytes());
        restoreModel = new RestoreModel(
                settings.disk(),
                VolumeMaintenance.WINDOWS_OF_CACHE * plan.restoreCache(),
                RestoreSettings.DEFAULT.budget(plan.streams()).batchBytes());
    }

    /**
     * Estimates.
     *
     * @param progress receives the number of bytes read
     * @param problems receives one line for each file that could not be read
     * @param stopped whether to stop; the estimate is then of what was read
     * @throws IOException if a path does not exist
     */
    static Estimate estimate(
            List<Path> paths,
            EstimateSettings settings,
            Progress progress,
            Consumer<String> problems,
            BooleanSupplier stopped)
            throws IOException {
        var inventory = new Inventory(stopped);
        inventory.passedOver = DataFiles.walk(paths, inventory);
        double share = settings.readShare() > 0
                ? settings.readShare()
                : Math.min(1, (double) MAX_READ_UNASKED_BYTES / Math.max(1, inventory.bytes));
        long toRead = (long) (inventory.bytes * share);
        progress.start(toRead);
        try (var frames = new FrameSample(settings.compression(), levelFor(toRead))) {
            return new Estimator(settings, frames, progress, problems, stopped)
                    .read(paths, new ExtentSample(share, settings.seed()), inventory);
        } finally {
            progress.end();
        }
    }

    /** Returns the level: one of 2 to the power of this many frames is compressed. */
    private static int levelFor(long bytes) {
        return Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, bytes - 1) / MAX_COMPRESSED_BYTES);
    }

    private Estimate read(List<Path> paths, ExtentSample extents, Inventory inventory) throws IOException {
        boolean isStopped = false;
        try (DataChunks chunks = new DataChunks(settings.chunking(), this)) {
            var reading = new Reading(paths, extents, chunks);
            try {
                DataFiles.walk(paths, reading);
            } catch (Stopped e) {
                isStopped = true;
            }
            reading.finishPath();
            frames.finish();
            return estimate(inventory, reading.unreadable, extents.isWhole() && !isStopped, isStopped);
        }
    }

    /** Sums over what was read. */
    private static final class Totals {
        long files;
        long zeroBytes;
        long dataBytes;
        long references;
        /** Estimates, by the state of the sample at the time. */
        double newBytes;

        double newBytesVariance;

        long bytes() {
            return zeroBytes + dataBytes;
        }

        void add(Totals other) {
            files += other.files;
            zeroBytes += other.zeroBytes;
            dataBytes += other.dataBytes;
            references += other.references;
            newBytes += other.newBytes;
            newBytesVariance += other.newBytesVariance;
        }
    }

    /** Number and sizes of the existing files. */
    private static final class Inventory implements DataFiles.Visitor {
        long files;
        long bytes;
        long passedOver;
        private final BooleanSupplier stopped;

        Inventory(BooleanSupplier stopped) {
            this.stopped = stopped;
        }

        @Override
        public void file(Path file, long size) throws IOException {
            if (stopped.getAsBoolean()) {
                throw new IOException("stopped during the search for files; nothing was read");
            }
            files++;
            bytes += size;
        }

        @Override
        public void unreadable(Path file, IOException why) {
            // It is reported when the files are read.
        }
    }

    /** Thrown to end the reading after a stop. */
    private static final class Stopped extends IOException {
        private static final long serialVersionUID = 1;
    }

    @Override
    public void take(Segment segment) throws IOException {
        if (stopped.getAsBoolean()) {
            throw new Stopped();
        }
        long bytes = 0;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            bytes += segment.length(chunk);
            if (segment.isZero(chunk)) {
                path.zeroBytes += segment.length(chunk);
            } else {
                refer(segment, chunk);
            }
        }
        progress.onBytesRead(bytes);
    }

    private void refer(Segment segment, int chunk) {
        int length = segment.length(chunk);
        long hash = sample.hash(DataChunks.fingerprint(segment, chunk));
        path.references++;
        path.dataBytes += length;
        if (sample.covers(hash)) {
            int home = sample.refer(hash);
            if (home == ChunkSample.NONE) {
                home = store(segment, chunk, hash);
            } else {
                frames.skipDuplicate();
            }
            restoreModel.want(home);
        } else {
            frames.addUnknown(segment, chunk, hash);
        }
        restoreModel.advance(length);
    }

    private int store(Segment segment, int chunk, long hash) {
        int length = segment.length(chunk);
        double share = sample.share();
        frames.addNew(segment, chunk, hash, share);
        int home = restoreModel.store(length * frames.recentRatio() / share);
        path.newBytes += length / share;
        path.newBytesVariance += (double) length * length * (1 - share) / (share * share);
        sample.add(hash, length, home);
        return home;
    }

    /** Reads the files, path by path. */
    private final class Reading implements DataFiles.Visitor {
        private final List<Path> paths;
        private final ExtentSample extents;
        private final DataChunks chunks;
        private int number = -1;
        private Path start = Path.of("");
        long unreadable;

        Reading(List<Path> paths, ExtentSample extents, DataChunks chunks) {
            this.paths = paths;
            this.extents = extents;
            this.chunks = chunks;
        }

        @Override
        public void path(int next, Path begin) {
            finishPath();
            number = next;
            start = begin;
        }

        @Override
        public void file(Path file, long bytes) throws IOException {
            long before = path.bytes();
            try {
                if (extents.isWhole()) {
                    chunks.read(file);
                } else {
                    readExtents(file, bytes);
                }
                path.files += path.bytes() > before || bytes == 0 ? 1 : 0;
            } catch (Stopped e) {
                throw e;
            } catch (IOException e) {
                unreadable(file, e);
            }
        }

        private void readExtents(Path file, long bytes) throws IOException {
            String name = start.relativize(file).toString();
            long extent = 0;
            while (extent * ExtentSample.EXTENT_BYTES < bytes) {
                long first = extent;
                while (extent * ExtentSample.EXTENT_BYTES < bytes && extents.takes(number, name, extent)) {
                    extent++;
                }
                if (extent > first) {
                    chunks.read(file, first * ExtentSample.EXTENT_BYTES, (extent - first) * ExtentSample.EXTENT_BYTES);
                }
                extent++;
            }
        }

        @Override
        public void unreadable(Path file, IOException why) {
            unreadable++;
            problems.accept(DataFiles.problem(file, why));
        }

        void finishPath() {
            if (number >= 0) {
                RestoreModel.DiskWork work = restoreModel.finish();
                pathsRead.add(new PathRead(paths.get(number).toString(), path, work));
                diskWork = diskWork.plus(work);
                totals.add(path);
                path = new Totals();
            }
        }
    }

    /** The disk requests for reading a path back. */
    private record PathRead(String name, Totals read, RestoreModel.DiskWork work) {}

    /** @param isKnown whether the disk's work is that of all chunks, or of enough chunks to represent them */
    private Estimate.RestoreRow row(PathRead pathRead, boolean isKnown) {
        Totals read = pathRead.read();
        RestoreModel.DiskWork work = pathRead.work();
        return new Estimate.RestoreRow(
                pathRead.name(),
                read.dataBytes,
                new Figure(read.newBytes, Math.sqrt(read.newBytesVariance)),
                work.containers(),
                work.requests(),
                work.bytes(),
                isKnown ? perSecond(read.dataBytes, settings.disk().seconds(work.requests(), work.bytes())) : null,
                perSecond(read.dataBytes, settings.disk().seconds(read.files, read.dataBytes)));
    }

    private static double perSecond(long bytes, double seconds) {
        return seconds == 0 ? 0 : bytes / seconds;
    }

    private Estimate estimate(Inventory inventory, long unreadable, boolean whole, boolean isStopped) {
        var references = new References(sample, totals.dataBytes);
        Figure chunks = references.chunks(1);
        Figure unique = references.bytes(1);
        Figure ratio = frames.ratio().times(1 + (double) StoredSize.container() / ContainerSize.FULL_BYTES);
        Figure stored = unique.times(ratio);
        List<Estimate.SsdRow> ssd = settings.ssdShares().stream()
                .map(share -> references.ssd(share, frames.copyRatio()))
                .toList();
        // The stored bytes that a chunk of the sample stands for.
        double span = chunks.value() == 0 ? 0 : stored.value() / chunks.value() / sample.share();
        boolean isKnown = sample.share() == 1 || restoreModel.joins(span);
        return new Estimate(
                inventory.files,
                inventory.bytes,
                totals.files,
                totals.bytes(),
                whole,
                isStopped,
                unreadable,
                inventory.passedOver,
                totals.zeroBytes,
                totals.dataBytes,
                totals.references,
                sample.share(),
                chunks,
                unique,
                unique.dividing((double) totals.dataBytes),
                ratio.dividing(1),
                stored,
                stored.dividing((double) totals.bytes()),
                MemoryNeed.of(chunks.value(), totals.references),
                index(chunks, unique, (double) inventory.bytes / Math.max(1, totals.bytes())),
                references.table(),
                ssd,
                new Estimate.Disk(settings.disk().seekMillis(), settings.disk().bytesPerSecond()),
                row(new PathRead("all", totals, diskWork), isKnown),
                pathsRead.stream().map(each -> row(each, isKnown)).toList());
    }

    /** @param scale bytes of the data for each byte that was read; with duplicates of the rest it is too high */
    private Estimate.Index index(Figure chunks, Figure unique, double scale) {
        double all = Math.max(1, scale);
        return new IndexChoice(chunks.value() * all, unique.value() * all, settings.index()).choose();
    }
}
