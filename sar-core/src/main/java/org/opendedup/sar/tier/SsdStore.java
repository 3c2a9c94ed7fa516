package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * One attached SSD: the log of promoted chunks, the {@link MapTable} and its database. Whatever fails here costs speed, never a
 * byte. Safe for use by many threads.
 */
public final class SsdStore implements PromotionTarget, Closeable {

    /**
     * Opens what a location holds, or makes an empty store in an empty folder. The Map table comes back from its database;
     * entries are checked when they are used.
     *
     * @param volume whose chunks these are; a location of another volume is refused with an IOException that says so
     * @param capacityBytes the most bytes used there
     * @param maxEntries the most entries the memory budget allows
     * @param makeRoom called by the writing thread when {@link #liveBytes} is above {@link #liveLimitBytes} or {@link MapTable#size}
     *     above maxEntries: demotes; what it can't demote is refused room
     * @param failure told of each failed access to the SSD (not of a record that fails its check)
     */
    public static SsdStore open(
            Path location,
            UUID volume,
            long capacityBytes,
            int maxEntries,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        throw new UnsupportedOperationException();
    }

    public MapTable table() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean contains(long chunkId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Answer offer(long chunkId, int check, int count, int saving, byte[] data, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads the copies of all chunks of a request whose source is SSD: sets their data. What can't be had (no entry any more, a
     * record that fails its check and is dropped, an I/O error) has its home as source afterwards. Neighbours in the log are read
     * at once.
     */
    public void read(ChunkRequest request) {
        throw new UnsupportedOperationException();
    }

    /** Demotes a chunk: its entry goes, its bytes on the SSD are dead. False if it was not there. */
    public boolean demote(long chunkId) {
        throw new UnsupportedOperationException();
    }

    /** Bytes of records that the Map table points to. */
    public long liveBytes() {
        throw new UnsupportedOperationException();
    }

    /** Live bytes up to which cleaning the log stays cheap; a share of the capacity. */
    public long liveLimitBytes() {
        throw new UnsupportedOperationException();
    }

    /** Bytes used at the location, dead ones and the database included. */
    public long usedBytes() {
        throw new UnsupportedOperationException();
    }

    public long capacityBytes() {
        throw new UnsupportedOperationException();
    }

    /** Changes the capacity. A smaller one is reached in the background, by demotion and cleaning. */
    public void resize(long capacityBytes) {
        throw new UnsupportedOperationException();
    }

    public SsdLogStatistics statistics() {
        throw new UnsupportedOperationException();
    }

    /** Waits until everything taken is on the SSD or dropped; for tests and for closing. */
    public void drain() throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Writes what was taken, closes; the location can be opened again. Idempotent. */
    @Override
    public void close() throws IOException {
        throw new UnsupportedOperationException();
    }
}
