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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.io.UncachedRead;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attached SSD: the log of promoted chunks, the {@link MapTable} and its database. A failure here costs speed, but
 * never loses data. Safe for use by many threads.
 *
 * <p>Writes are not forced to the disk. Data are written before the entry that points to them, so a killed process
 * leaves both consistent. After a power failure an entry may point to missing bytes, which is detected when they are
 * read.
 */
public final class SsdStore implements AttachedSsd {
    private static final Logger logger = LoggerFactory.getLogger(SsdStore.class);
    private static final long CLOSE_MILLIS = TimeUnit.SECONDS.toMillis(10);

    private final Path location;
    private final LogCounters counters = new LogCounters();
    private final OfferQueue queue;
    private final RecordFormat format;
    private final int maxEntries;
    private final Consumer<IOException> failure;
    private final Segments segments;
    private final MapTable table;
    private final SsdLog log;
    private final SsdWriter writer;
    private final Thread thread;

    /** Idle readers with their buffers, as many as ever read at the same time. */
    private final ConcurrentLinkedQueue<SsdReader> readers = new ConcurrentLinkedQueue<>();

    /** How many threads are in {@link #read}. */
    private final AtomicInteger reading = new AtomicInteger();

    private final LogVerifier verifier;

    /** Whether the disk took no writes when it was opened. */
    private final boolean readOnly;

    private volatile boolean closed;

    /**
     * Opens the store at a location, or creates an empty store in an empty folder. The Map table is loaded from its
     * database; entries are checked when they are used.
     *
     * @param hash makes the fingerprints of the chunks
     * @param keys what copies are encrypted with; null: they are not
     * @param timeline timeline of the volume that owns the chunks. A location of another volume is refused with an
     *     IOException that says so; copies made in another history of this volume are forgotten
     * @param capacityBytes limit of the bytes used there; below about 7 MiB nothing is promoted
     * @param memory heap that the memory budget allows
     * @param makeRoom demotes chunks; called by the writing thread when {@link #liveBytes} is above
     *     {@link #liveLimitBytes} or {@link MapTable#size} above its maximum. While it leaves more than that, offers
     *     find no room
     * @param failure receives each failed access to the SSD, on the thread that met it: an {@link SsdWriteException}
     *     for a write, a CorruptionException for a record that failed its check. Must neither wait nor close the store
     */
    public static SsdStore open(
            Path location,
            ContentHash hash,
            @Nullable VolumeKeys keys,
            Timeline timeline,
            long capacityBytes,
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        FileDirectory.open(location);
        PrivateFolder place = PrivateFolder.at(location);
        place.requireSafe();
        SsdIdentity.claim(location, timeline.current().volume());
        narrow(place, location);
        Path folder = location.resolve(LocationFiles.SEGMENTS);
        PrivateFiles.createFolders(folder);
        Directory files = FileDirectory.open(folder);
        return open(location, files, new RecordFormat(hash, keys), timeline, capacityBytes, memory, makeRoom, failure);
    }

    /**
     * Checks that a folder belongs to the volume; claims it if it is empty; creates it if it is missing.
     *
     * @throws IOException if it belongs to another volume, its identity is damaged, there are other files, or other
     *     users could replace the folder; nothing was touched
     */
    public static void claim(Path location, UUID volume) throws IOException {
        if (Files.exists(location) && !Files.isDirectory(location)) {
            throw new IOException(location + " is not a folder");
        }
        PrivateFolder.at(location).requireSafe();
        PrivateFiles.createFolders(location);
        SsdIdentity.claim(location, volume);
    }

    /** Returns how many files a store of that capacity has open at most: all segments, and tables of the database. */
    public static long mostOpenFiles(long capacityBytes) {
        return SpaceLimits.mostSegments(capacityBytes) + MapDatabase.OPEN_FILES;
    }

    /**
     * Returns whether the folder is missing or empty.
     *
     * @throws IOException if it exists and can't be read
     */
    public static boolean isMissingOrEmpty(Path location) throws IOException {
        return Files.notExists(location) || FolderEntries.of(location).isEmpty();
    }

    private static void narrow(PrivateFolder place, Path location) throws IOException {
        boolean wasOpenToOthers = place.isWide();
        int narrowed = Files.isWritable(location) ? place.narrowAll() : 0;
        // In a process whose umask allows it RocksDB makes files that others could read if they could enter the folder.
        if (narrowed > 0 && wasOpenToOthers) {
            logger.warn("{}: other users had permissions for {} files and folders; took them away", location, narrowed);
        }
    }

    /** Locks the location; a disk that takes no writes needs no lock. */
    private static Closeable lock(Path location) throws IOException {
        if (!Files.isWritable(location)) {
            return () -> {};
        }
        LockFile lock = LockFile.tryAcquire(location.resolve(LocationFiles.LOCK))
                .orElseThrow(() -> new IOException(
                        "the SSD location " + location + " is in use, or it hung and a write there has not ended"));
        return lock::close;
    }

    /** As above, at a location that was claimed, with its segment files in any directory; closes the format. */
    static SsdStore open(
            Path location,
            Directory segmentFiles,
            RecordFormat format,
            Timeline timeline,
            long capacityBytes,
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        Closeable lock = lock(location);
        try {
            Segments segments = Segments.open(segmentFiles, timeline, format.keys());
            try {
                return new SsdStore(location, segments, format, capacityBytes, memory, makeRoom, failure, lock);
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
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure,
            Closeable lock)
            throws IOException {
        this.location = location;
        this.segments = segments;
        this.format = format;
        this.failure = failure;
        maxEntries = memory.maxEntries();
        queue = new OfferQueue(memory.offerBytes());
        readOnly = !Files.isWritable(location);
        Bookkeeping bookkeeping = new Bookkeeping(segments);
        table = new MapTable(bookkeeping);
        MapKeeper keeper = new MapKeeper(location.resolve(LocationFiles.MAP), table);
        bookkeeping.keeper = keeper;
        keeper.load(segments, entry -> table.size() < maxEntries && isPossible(entry));
        log = new SsdLog(segments, table, keeper, capacityBytes, maxEntries, makeRoom, failure, counters);
        log.measure();
        verifier = new LogVerifier(table, segments, format, counters, failure, () -> reading.get() > 0);
        writer = new SsdWriter(location, queue, format, log, keeper, failure, counters, lock);
        thread = new Thread(writer, "sar-ssd-writer");
        thread.setDaemon(true);
        thread.start();
    }

    /** Reports every change of the Map table to segments and database, whichever thread makes it. */
    private static final class Bookkeeping implements MapTable.Listener {
        private final Segments segments;
        private @Nullable MapKeeper keeper;

        Bookkeeping(Segments segments) {
            this.segments = segments;
        }

        @Override
        public void onAdded(int segment, int lengthBytes) {
            segments.addLive(segment, lengthBytes);
        }

        @Override
        public void onRemoved(int segment, int lengthBytes) {
            segments.addLive(segment, -lengthBytes);
        }

        @Override
        public void onForgotten(long chunkId) {
            if (keeper != null) {
                keeper.noteForgotten(chunkId);
            }
        }
    }

    /** Returns whether a record may be at an entry's place. */
    private boolean isPossible(MapEntry entry) {
        SegmentFile segment = segments.get(entry.segment);
        return segment != null
                && entry.chunkId > 0
                && segments.isShared(segment, entry.chunkId)
                && entry.offset >= SegmentFile.HEADER_BYTES
                && entry.offset % PackedEntry.ALIGNMENT == 0
                && entry.length > RecordHeader.BYTES
                && entry.length <= PackedEntry.MAX_LENGTH
                && entry.length % PackedEntry.ALIGNMENT == 0
                && entry.length <= segment.length() - entry.offset;
    }

    /**
     * Returns the positions of all copies. Any thread may remove entries from it directly; only the writing thread adds
     * them.
     */
    public MapTable table() {
        return table;
    }

    @Override
    public int copies() {
        return table.size();
    }

    @Override
    public boolean holds(long chunkId) {
        return table.contains(chunkId);
    }

    @Override
    public boolean contains(long chunkId) {
        return table.contains(chunkId) || queue.contains(chunkId);
    }

    @Override
    public OfferAnswer offer(
            long chunkId,
            int fingerprintPrefix,
            int count,
            int saving,
            Cause cause,
            byte[] data,
            int offset,
            int length) {
        if (length < 1 || length > RecordHeader.MAX_CHUNK_BYTES) {
            return OfferAnswer.TOO_LARGE;
        }
        if (closed || !writer.takesWrites()) {
            return OfferAnswer.UNAVAILABLE;
        }
        if (table.contains(chunkId)) {
            return OfferAnswer.PRESENT;
        }
        return queue.offer(chunkId, fingerprintPrefix, count, saving, cause.ordinal(), data, offset, length);
    }

    @Override
    public void listen(OfferListener listener) {
        writer.listen(listener);
    }

    @Override
    public boolean hasQueueRoom() {
        return queue.hasRoom();
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        table.noteWanted(chunkId, count, saving);
    }

    @Override
    public void forEach(Consumer<MapEntry> visitor) {
        table.forEach(visitor);
    }

    @Override
    public boolean get(long chunkId, MapEntry into) {
        return table.get(chunkId, into);
    }

    @Override
    public void setCount(long chunkId, int count) {
        table.setCount(chunkId, count);
    }

    @Override
    public void age() {
        table.age();
    }

    @Override
    public int size() {
        return table.size();
    }

    @Override
    public int maxEntries() {
        return maxEntries;
    }

    @Override
    public long tableHeapBytes() {
        return table.heapBytes();
    }

    @Override
    public long damaged() {
        return counters.badRecords.sum();
    }

    /** Returns whether the SSD takes writes: false for a while after a failed write, longer each time. */
    boolean takesWrites() {
        return !closed && writer.takesWrites();
    }

    /** Returns whether the disk was mounted without write access when it was opened. */
    @Override
    public boolean isReadOnly() {
        return readOnly;
    }

    /**
     * Reads the copies of all chunks of a request that must be read from the SSD, and sets their data. Sends home
     * chunks that can't be read: those without an entry, those whose record fails its check and is dropped, and those
     * with an I/O error. Reads neighbours in the log at once.
     */
    @Override
    public void read(ChunkRequest request) {
        SsdReader pooled = readers.poll();
        SsdReader reader = pooled == null ? new SsdReader(table, segments, format, failure, counters) : pooled;
        reading.incrementAndGet();
        try {
            reader.read(request);
        } finally {
            reading.decrementAndGet();
        }
        readers.add(reader);
    }

    /** Returns the first copies in the log that are not before a byte of a segment file. */
    @Override
    public LogCopies copiesFrom(int segment, long offset) {
        return LogCopies.from(table, segment, offset);
    }

    /**
     * Reads copies {@code from} to {@code to} (exclusive), sets their states, and drops those that are not what was
     * written. Gives way to readers. For use by one thread at a time.
     */
    @Override
    public void verify(LogCopies copies, int from, int to) {
        verifier.verify(copies, from, to);
    }

    /** Removes the entry of a copy, if it still points to it; returns whether it did. */
    @Override
    public boolean drop(LogCopies copies, int i) {
        return verifier.drop(copies, i);
    }

    /**
     * Reads a block of a segment from the disk itself, not from the kernel's cache, to find out whether the SSD
     * answers.
     */
    @Override
    public void probe() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        SegmentFile segment = segments.from(random.nextInt(PackedEntry.SEGMENTS));
        if (segment == null) {
            return;
        }
        String name = SegmentFile.name(segment.number());
        try {
            UncachedRead.block(
                    location.resolve(LocationFiles.SEGMENTS).resolve(name), random.nextLong(segment.length()));
        } catch (NoSuchFileException e) {
            logger.debug("{} was deleted before it was probed; so the SSD answers", name);
        } catch (IOException e) {
            counters.readFailures.increment();
            failure.accept(e);
        }
    }

    @Override
    public void dropDamaged(long chunkId) {
        demote(chunkId);
    }

    /**
     * Demotes a chunk: removes its entry, which makes its bytes on the SSD dead. Returns false if it was neither on the
     * SSD nor on its way there.
     */
    @Override
    public boolean demote(long chunkId) {
        // In this order: a chunk that arrives in between is found in the table.
        boolean wasOnItsWay = queue.withdraw(chunkId);
        return table.remove(chunkId, new MapEntry()) || wasOnItsWay;
    }

    /** Returns the bytes of the records to which the Map table points. */
    @Override
    public long liveBytes() {
        return segments.liveBytes();
    }

    /** Returns the live bytes up to which cleaning the log stays cheap; a share of the capacity. */
    @Override
    public long liveLimitBytes() {
        return log.limits().liveBytes();
    }

    /** Returns the bytes used at the location, dead ones and the database included; the latter as last measured. */
    @Override
    public long usedBytes() {
        return segments.bytes() + log.databaseBytes();
    }

    /** Changes the capacity. A smaller one is reached in the background, by demotion and cleaning. */
    @Override
    public void resize(long capacityBytes) {
        log.setCapacity(capacityBytes);
        queue.wake();
    }

    @Override
    public SsdLogStatistics statistics() {
        return new SsdLogStatistics(
                segments.count(),
                counters.writtenRecords.sum(),
                counters.writtenBytes.sum(),
                queue.bytes(),
                queue.chunks(),
                counters.writeFailures.sum(),
                counters.readFailures.sum(),
                counters.badRecords.sum(),
                counters.reclaimedSegments.sum(),
                counters.cleanedSegments.sum(),
                counters.cleaningBytes.sum(),
                log.databaseWrittenBytes());
    }

    /** Waits until every accepted chunk is on the SSD or dropped. */
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
     * Writes the accepted chunks and closes the store; the location can be opened again. Idempotent.
     *
     * @throws IOException if the SSD hangs: its thread is abandoned, and ends when the SSD answers
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
            throw new IOException("the SSD at " + location + " does not respond; its writing thread is abandoned");
        }
    }
}
