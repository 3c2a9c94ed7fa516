package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segment files of the SSD log, and the live bytes of each, to which the Map table points. One thread creates and
 * deletes files; all else is safe for use by many threads.
 */
final class Segments {
    private static final Logger log = LoggerFactory.getLogger(Segments.class);

    private final Directory directory;
    private final Timeline timeline;
    private final @Nullable VolumeKeys keys;
    private final AtomicReferenceArray<@Nullable SegmentFile> files = new AtomicReferenceArray<>(PackedEntry.SEGMENTS);
    private final AtomicIntegerArray live = new AtomicIntegerArray(PackedEntry.SEGMENTS);
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong liveBytes = new AtomicLong();

    /**
     * Where the search for a free number starts: a number is reused as late as possible. Used only by the thread that
     * creates files.
     */
    private int nextNumber;

    private Segments(Directory directory, Timeline timeline, @Nullable VolumeKeys keys) {
        this.directory = directory;
        this.timeline = timeline;
        this.keys = keys;
    }

    /**
     * Opens all files of a folder. Deletes files with a wrong header, which are of no use.
     *
     * @param keys what records are encrypted with; null: they are not
     */
    static Segments open(Directory directory, Timeline timeline, @Nullable VolumeKeys keys) throws IOException {
        Segments segments = new Segments(directory, timeline, keys);
        try {
            for (String name : directory.list()) {
                OptionalInt number = SegmentFile.numberOf(name);
                if (number.isPresent()) {
                    segments.openFile(number.getAsInt());
                }
            }
            return segments;
        } catch (IOException | RuntimeException e) {
            segments.close();
            throw e;
        }
    }

    private void openFile(int number) throws IOException {
        try {
            add(SegmentFile.open(directory, number, timeline.current().volume(), keys));
            nextNumber = number + 1;
        } catch (CorruptionException e) {
            log.warn("{}; the file is deleted, reads go to the home copies", e.getMessage());
            directory.delete(SegmentFile.name(number));
        }
    }

    private void add(SegmentFile file) {
        files.set(file.number(), file);
        count.incrementAndGet();
        bytes.addAndGet(file.length());
    }

    /** Returns a number that no file has. */
    int freeNumber() throws IOException {
        for (int i = 0; i < PackedEntry.SEGMENTS; i++) {
            int number = (nextNumber + i) % PackedEntry.SEGMENTS;
            if (files.get(number) == null && live.get(number) == 0) {
                nextNumber = number + 1;
                return number;
            }
        }
        throw new IOException("the SSD log in " + directory + " has all the segment files it may have");
    }

    Directory directory() {
        return directory;
    }

    /** Returns whether a chunk id still has the meaning that it had when a file was created. */
    boolean isShared(SegmentFile file, long chunkId) {
        return ChunkId.container(chunkId) < timeline.sharedBelow(file.epoch());
    }

    /** Returns the header of a file that is to be created. */
    ByteBuffer header(int number, long salt) {
        return SegmentFile.header(number, timeline.current(), salt, keys != null);
    }

    /** Opens a file that was just created. */
    SegmentFile openNew(int number) throws IOException {
        SegmentFile file =
                SegmentFile.open(directory, number, timeline.current().volume(), keys);
        add(file);
        return file;
    }

    /** Returns the file of a number; null if there is none. */
    @Nullable
    SegmentFile get(int number) {
        return files.get(number);
    }

    /**
     * Returns the file of that number, or else of the next number that has one, wrapping around; null if there are no
     * files.
     */
    @Nullable
    SegmentFile from(int number) {
        for (int i = 0; i < PackedEntry.SEGMENTS; i++) {
            SegmentFile file = files.get((number + i) % PackedEntry.SEGMENTS);
            if (file != null) {
                return file;
            }
        }
        return null;
    }

    /** Notes that a file has grown. */
    void grown(SegmentFile file, long length) {
        bytes.addAndGet(length - file.length());
        file.setLength(length);
    }

    /** Deletes a file to which no entry points. Readers that hold it continue to read it. */
    void delete(SegmentFile file) throws IOException {
        if (live.get(file.number()) != 0) {
            throw new IllegalStateException("segment " + file.number() + " is in use");
        }
        try {
            directory.delete(SegmentFile.name(file.number()));
        } catch (NoSuchFileException e) {
            // Something else emptied the folder; the file is deleted already.
            log.warn("{} was already missing from {}", SegmentFile.name(file.number()), directory);
        }
        files.set(file.number(), null);
        count.decrementAndGet();
        bytes.addAndGet(-file.length());
        file.leave();
    }

    /** Returns the bytes of a file to which entries point. */
    int live(int number) {
        return live.get(number);
    }

    /** Returns the bytes to which entries point, over all files. */
    long liveBytes() {
        return liveBytes.get();
    }

    void addLive(int number, int more) {
        live.addAndGet(number, more);
        liveBytes.addAndGet(more);
    }

    /** Returns the number of files. */
    int count() {
        return count.get();
    }

    /** Returns the bytes of all files. */
    long bytes() {
        return bytes.get();
    }

    /** Closes all files. */
    void close() throws IOException {
        for (int number = 0; number < PackedEntry.SEGMENTS; number++) {
            SegmentFile file = files.getAndSet(number, null);
            if (file != null) {
                file.leave();
            }
        }
    }
}
