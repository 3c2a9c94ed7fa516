package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.io.UncachedRead;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attached SSD: the log of promoted chunks, the {@link MapTable} and its database. Whatever fails here costs speed, never a
 * byte. Safe for use by many threads.
 *
 * <p>Nothing is forced to the disk. Data is written before the entry that points to it, so a killed process leaves both in order;
 * after a power cut an entry may point to bytes that are not there, which shows when they are read.
 */
public final class SsdStore implements Closeable {
    static final String SEGMENTS_FOLDER = "segments";
    static final String MAP_FOLDER = "map";
    /** Held as long as a thread of this program may write there: also after {@link #close}, where the SSD hangs. */
    static final String LOCK = "sar.lock";

    private static final Logger logger = LoggerFactory.getLogger(SsdStore.class);
    private static final long CLOSE_MILLIS = TimeUnit.SECONDS.toMillis(10);

    private final Path location;
    private final LogCounters counters = new LogCounters();
    private final OfferQueue queue = new OfferQueue();
    private final RecordFormat format;
    private final Consumer<IOException> failure;
    private final Segments segments;
    private final MapTable table;
    private final SsdLog log;
    private final SsdWriter writer;
    private final Thread thread;

    /** Readers with their buffers, as many as ever read at once. */
    private final ConcurrentLinkedQueue<SsdReader> readers = new ConcurrentLinkedQueue<>();

    /** Whether the disk took no writes when it was opened. */
    private final boolean readOnly;

    private volatile boolean closed;

    /**
     * Opens what a location holds, or makes an empty store in an empty folder. The Map table comes back from its database;
     * entries are checked when they are used.
     *
     * @param timeline of the volume whose chunks these are; a location of another volume is refused with an IOException that says so, and
     *     copies that were made in another history of this one are forgotten
     * @param capacityBytes the most bytes used there; below about 7 MiB nothing is promoted
     * @param maxEntries the most entries the memory budget allows; a batch of 4096 may exceed it for a moment
     * @param makeRoom called by the writing thread when {@link #liveBytes} is above {@link #liveLimitBytes} or {@link MapTable#size}
     *     above maxEntries: demotes; while it leaves more than that, what is offered is refused room
     * @param failure told of each failed access to the SSD, by the thread that met it: an {@link SsdWriteException} for a write, a
     *     CorruptionException for a record that failed its check. Must not wait, nor close the store
     */
    public static SsdStore open(
            Path location,
            Timeline timeline,
            long capacityBytes,
            int maxEntries,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        FileDirectory.open(location);
        PrivateFolder place = PrivateFolder.at(location);
        place.requireSafe();
        SsdIdentity.claim(location, timeline.current().volume());
        narrow(place, location);
        Path folder = location.resolve(SEGMENTS_FOLDER);
        PrivateFiles.createFolders(folder);
        Directory files = FileDirectory.open(folder);
        return open(location, files, new RecordFormat(), timeline, capacityBytes, maxEntries, makeRoom, failure);
    }

    /**
     * Checks that a folder is the volume's, and takes it if it is empty.
     *
     * @throws IOException if it is another volume's, its identity is damaged, or there are other files; nothing was touched
     */
    public static void claim(Path location, UUID volume) throws IOException {
        SsdIdentity.claim(location, volume);
    }

    /**
     * Whether there is no folder, or nothing in it.
     *
     * @throws IOException if it is there and can't be read
     */
    public static boolean isMissingOrEmpty(Path location) throws IOException {
        return Files.notExists(location) || FolderEntries.of(location).isEmpty();
    }

    private static void narrow(PrivateFolder place, Path location) throws IOException {
        int narrowed = Files.isWritable(location) ? place.narrowAll() : 0;
        if (narrowed > 0) {
            logger.warn("{}: other users had permissions for {} files and folders; took them away", location, narrowed);
        }
    }

    /** A disk that takes no writes needs no lock. */
    private static Closeable lock(Path location) throws IOException {
        if (!Files.isWritable(location)) {
            return () -> {};
        }
        LockFile lock = LockFile.tryAcquire(location.resolve(LOCK))
                .orElseThrow(() -> new IOException("the SSD location " + location
                        + " is in use, or it hung and what was being written there has not come to its end"));
        return lock::close;
    }

    /** As above, at a location that was claimed, with its segment files in any directory; closes the format. */
    static SsdStore open(
            Path location,
            Directory segmentFiles,
            RecordFormat format,
            Timeline timeline,
            long capacityBytes,
            int maxEntries,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        Closeable lock = lock(location);
        try {
            Segments segments = Segments.open(segmentFiles, timeline);
            try {
                return new SsdStore(location, segments, format, capacityBytes, maxEntries, makeRoom, failure, lock);
            } catch (IOException | RuntimeException e) {
                segments.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    private SsdStore(
            Path location,
            Segments segments,
            RecordFormat format,
            long capacityBytes,
            int maxEntries,
            Runnable makeRoom,
            Consumer<IOException> failure,
            Closeable lock)
            throws IOException {
        this.location = location;
        this.segments = segments;
        this.format = format;
        this.failure = failure;
        readOnly = !Files.isWritable(location);
        Bookkeeping bookkeeping = new Bookkeeping(segments);
        table = new MapTable(bookkeeping);
        MapKeeper keeper = new MapKeeper(location.resolve(MAP_FOLDER), table);
        bookkeeping.keeper = keeper;
        keeper.load(segments, entry -> table.size() < maxEntries && isPossible(entry));
        log = new SsdLog(segments, table, keeper, capacityBytes, maxEntries, makeRoom, failure, counters);
        log.measure();
        writer = new SsdWriter(location, queue, format, log, keeper, failure, counters, lock);
        thread = new Thread(writer, "sar-ssd-writer");
        thread.setDaemon(true);
        thread.start();
    }

    /** Tells segments and database of every change of the Map table, whoever makes it. */
    private static final class Bookkeeping implements MapTable.Listener {
        private final Segments segments;
        private @Nullable MapKeeper keeper;

        Bookkeeping(Segments segments) {
            this.segments = segments;
        }

        @Override
        public void added(int segment, int lengthBytes) {
            segments.addLive(segment, lengthBytes);
        }

        @Override
        public void removed(int segment, int lengthBytes) {
            segments.addLive(segment, -lengthBytes);
        }

        @Override
        public void forgotten(long chunkId) {
            if (keeper != null) {
                keeper.noteForgotten(chunkId);
            }
        }
    }

    /** Whether a record may lie where an entry says. */
    private boolean isPossible(MapEntry entry) {
        SegmentFile segment = segments.get(entry.segment);
        return segment != null
                && entry.chunkId > 0
                && segments.isShared(segment, entry.chunkId)
                && entry.offset >= SegmentFile.HEADER_BYTES
                && entry.offset % PackedEntry.ALIGNMENT == 0
                && entry.length > RecordFormat.HEADER_BYTES
                && entry.length <= PackedEntry.MAX_LENGTH
                && entry.length % PackedEntry.ALIGNMENT == 0
                && entry.length <= segment.length() - entry.offset;
    }

    /** Where everything lies. Entries may be removed from it directly; they are added by the writing thread alone. */
    public MapTable table() {
        return table;
    }

    /** Whether the chunk is in the Map table or on its way there. */
    public boolean contains(long chunkId) {
        return table.contains(chunkId) || queue.contains(chunkId);
    }

    /**
     * Offers a chunk. Never waits; the bytes are copied before it returns. UNAVAILABLE also for a chunk of 512 KiB or more, which no
     * record holds.
     *
     * @param check first bytes of its fingerprint, which the bytes must have
     * @param count references to it by now
     * @param saving what a read of it from here saves the disk, in microseconds for each KiB; at most 65535
     */
    public OfferAnswer offer(long chunkId, int check, int count, int saving, byte[] data, int offset, int length) {
        if (closed || length < 1 || length > RecordFormat.MAX_CHUNK_BYTES || !writer.takesWrites()) {
            return OfferAnswer.UNAVAILABLE;
        }
        if (table.contains(chunkId)) {
            return OfferAnswer.PRESENT;
        }
        OfferAnswer answer = queue.offer(chunkId, check, count, saving, data, offset, length);
        if (answer == OfferAnswer.QUEUE_FULL) {
            counters.queueDrops.increment();
        }
        return answer;
    }

    /** See {@link MapTable#noteWanted}. */
    public void noteWanted(long chunkId, int count, int saving) {
        table.noteWanted(chunkId, count, saving);
    }

    /** Whether the SSD takes writes: false for a while after it failed one, longer each time. */
    boolean takesWrites() {
        return !closed && writer.takesWrites();
    }

    /** Whether the disk was mounted such that it takes no writes when it was opened. */
    public boolean isReadOnly() {
        return readOnly;
    }

    /**
     * Reads the copies of all chunks of a request that are to come from the SSD: sets their data. What can't be had (no entry any more,
     * a record that fails its check and is dropped, an I/O error) is sent home. Neighbours in the log are read
     * at once.
     */
    public void read(CopyRequest request) {
        SsdReader pooled = readers.poll();
        SsdReader reader = pooled == null ? new SsdReader(table, segments, format, failure, counters) : pooled;
        reader.read(request);
        readers.add(reader);
    }

    /** Reads a block of some segment from the disk itself, not from the kernel's cache: so it shows whether the SSD answers. */
    public void probe() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        SegmentFile segment = segments.from(random.nextInt(PackedEntry.SEGMENTS));
        if (segment == null) {
            return;
        }
        String name = SegmentFile.name(segment.number());
        try {
            UncachedRead.block(location.resolve(SEGMENTS_FOLDER).resolve(name), random.nextLong(segment.length()));
        } catch (NoSuchFileException e) {
            logger.debug("{} was deleted before it was probed; so the SSD answers", name);
        } catch (IOException e) {
            counters.readFailures.increment();
            failure.accept(e);
        }
    }

    /** Demotes a chunk: its entry goes, its bytes on the SSD are dead. False if it was neither there nor on its way. */
    public boolean demote(long chunkId) {
        // In this order: what arrives in between is found in the table.
        boolean wasOnItsWay = queue.withdraw(chunkId);
        return table.remove(chunkId, new MapEntry()) || wasOnItsWay;
    }

    /** Bytes of records that the Map table points to. */
    public long liveBytes() {
        return segments.liveBytes();
    }

    /** Live bytes up to which cleaning the log stays cheap; a share of the capacity. */
    public long liveLimitBytes() {
        return log.limits().liveBytes();
    }

    /** Bytes used at the location, dead ones and the database included; the latter as last measured. */
    public long usedBytes() {
        return segments.bytes() + log.databaseBytes();
    }

    /** Changes the capacity. A smaller one is reached in the background, by demotion and cleaning. */
    public void resize(long capacityBytes) {
        log.setCapacity(capacityBytes);
        queue.wake();
    }

    public SsdLogStatistics statistics() {
        return new SsdLogStatistics(
                segments.count(),
                counters.writtenRecords.sum(),
                counters.writtenBytes.sum(),
                queue.bytes(),
                counters.queueDrops.sum(),
                counters.writeFailures.sum(),
                counters.readFailures.sum(),
                counters.badRecords.sum(),
                counters.reclaimedSegments.sum(),
                counters.cleanedSegments.sum(),
                counters.cleaningBytes.sum());
    }

    /** Chunks taken and then dropped, because there was no room for them or the SSD did not take them. */
    long refusedChunks() {
        return counters.refused.sum();
    }

    /** Offers dropped because their bytes were not those of the chunk. */
    long wrongOffers() {
        return counters.wrongOffers.sum();
    }

    /** Waits until everything taken is on the SSD or dropped. */
    void drain() throws IOException {
        try {
            queue.wake();
            queue.awaitEmpty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the SSD log of " + location + " was written", e);
        }
    }

    /**
     * Writes what was taken, closes; the location can be opened again. Idempotent.
     *
     * @throws IOException if the SSD hangs: its thread is left behind, and ends when the SSD answers
     */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        queue.close();
        awaitWriter();
        segments.close();
        format.close();
    }

    private void awaitWriter() throws IOException {
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            throw new IOException("the SSD at " + location + " does not answer; its writing thread is left behind");
        }
    }
}
