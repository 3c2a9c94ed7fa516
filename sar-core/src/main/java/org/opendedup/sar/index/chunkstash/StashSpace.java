package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.io.Directory;

/**
 * How much of its space an index uses, and whether it is full. It counts what its files may need until it is closed:
 * the log with the pages that are being filled, the table, and two checkpoints, because one is written beside the
 * other. A device that has hardly any space left is full as well. Not thread-safe.
 */
final class StashSpace {
    /** Most bytes that stay free, so that pages are moved before an insertion is refused. */
    private static final long MOST_SLACK_BYTES = 4 << 20;

    /** Bytes on the device below which it counts as full: what pages that are being filled may take, and some. */
    private static final long DEVICE_SLACK_BYTES = 2 << 20;

    /** Headers of files, and records that are written without a question: those of removals and epochs. */
    private static final long OTHER_BYTES = 4 << 10;

    /** Bytes after which the device is asked again. */
    private static final long ASK_EACH_BYTES = 1 << 20;

    private final IndexSpace space;
    private final Directory directory;
    private final StashState state;
    /** Bytes that the pages being filled will have in the log. */
    private long openBytes;

    private long askedAt = -ASK_EACH_BYTES;
    private boolean isDeviceFull;

    StashSpace(IndexSpace space, Directory directory, StashState state) {
        this.space = space;
        this.directory = directory;
        this.state = state;
    }

    /** Notes bytes of a page that is being filled; a negative number when it is written or given up. */
    void open(long bytes) {
        openBytes += bytes;
    }

    private long other() {
        return 2 * Checkpoint.estimatedBytes(state) + state.tableBytes() + OTHER_BYTES;
    }

    /** Returns the bytes that the files may need until the index is closed. */
    long bytes() {
        return state.records.length() + openBytes + other();
    }

    /** @throws NoSpaceException if there is no room for these bytes in the log */
    void require(long bytes) throws NoSpaceException {
        if (!hasRoom(bytes)) {
            throw new NoSpaceException("the fingerprint index in " + directory + " may not have more than "
                    + space.mostBytes() + " bytes");
        }
    }

    /** Returns whether a segment should be moved to the disk. */
    boolean isFull() throws IOException {
        long most = space.mostBytes();
        long slack = Math.min(MOST_SLACK_BYTES, Math.max(0, most - other()) / 4);
        return bytes() > most - slack || isDeviceFull();
    }

    private boolean isDeviceFull() throws IOException {
        if (state.records.appendedBytes() - askedAt >= ASK_EACH_BYTES) {
            askedAt = state.records.appendedBytes();
            isDeviceFull = directory.usableBytes() < 2 * Checkpoint.estimatedBytes(state) + DEVICE_SLACK_BYTES;
        }
        return isDeviceFull;
    }

    /**
     * Notes that a segment was moved. The device is asked again when as much as a segment was appended: if others have
     * filled it, moving all would not help.
     */
    void moved() {
        askedAt = state.records.appendedBytes();
        isDeviceFull = false;
    }

    /** Returns whether there is room for more bytes in the log. */
    boolean hasRoom(long bytes) {
        return bytes <= space.mostBytes() - bytes();
    }

    /**
     * Returns the segment that should be recycled; 0 if none, or if there is no room to write again what it has in use.
     *
     * @param mostShort see {@link StashLog#victim}
     */
    int victim(int mostShort) {
        int victim = state.records.victim(mostShort);
        return victim != 0 && hasRoom(state.records.used(victim)) ? victim : 0;
    }

    /** Tells how many bytes are used. */
    void report() {
        space.used(bytes());
    }
}
