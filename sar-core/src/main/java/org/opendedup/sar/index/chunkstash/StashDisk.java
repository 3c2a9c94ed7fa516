package org.opendedup.sar.index.chunkstash;

import java.io.Closeable;
import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.DiskIndex;
import org.opendedup.sar.index.DiskIndexUse;

/**
 * The disk index behind a log, which is made when the first segment is moved to it; until then all calls do nothing.
 * Safe for use by many threads.
 */
final class StashDisk implements Closeable {
    private final DiskIndex.@Nullable Place place;
    private volatile @Nullable DiskIndex index;

    StashDisk(DiskIndex.@Nullable Place place) {
        this.place = place;
    }

    /**
     * Opens the disk index of a log, if there is one.
     *
     * @param moves number of moves that the log knows of
     * @throws CorruptionException if it is missing, damaged or older than the log
     */
    void open(long generation, long moves) throws IOException {
        if (place == null) {
            if (moves > 0) {
                throw new CorruptionException("the fingerprint index", -1, "a place of its disk index", "none");
            }
            return;
        }
        if (!place.isThere(generation)) {
            if (moves > 0) {
                throw new CorruptionException(place.toString(), -1, "a disk index with " + moves + " moves", "none");
            }
            return;
        }
        DiskIndex opened = place.open(generation);
        if (opened.moves() < moves) {
            long found = opened.moves();
            opened.close();
            throw new CorruptionException(
                    place.toString(), -1, "a disk index with " + moves + " moves", "one with " + found);
        }
        index = opened;
    }

    boolean canBeMade() {
        return place != null;
    }

    /** Returns the disk index, which is made if there is none. */
    DiskIndex made(long generation) throws IOException {
        DiskIndex present = index;
        if (present == null) {
            if (place == null) {
                throw new IllegalStateException("there is no place for a disk index");
            }
            present = place.open(generation);
            index = present;
        }
        return present;
    }

    /** Deletes the disk index, for a log that was cleared. */
    void clear(long generation) throws IOException {
        close();
        if (place != null) {
            place.deleteOthers(generation);
        }
    }

    void lookup(Segment segment) throws IOException {
        DiskIndex present = index;
        if (present != null) {
            present.lookup(segment);
        }
    }

    /** Forgets fingerprints that were removed from the log: their older copies here must not come back. */
    void forget(byte[] fingerprints, BitSet slots) throws IOException {
        DiskIndex present = index;
        if (present != null && !slots.isEmpty()) {
            present.forget(fingerprints, slots);
        }
    }

    void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        DiskIndex present = index;
        if (present != null) {
            present.remove(container, fingerprints, slots);
        }
    }

    void uncover(long container) throws IOException {
        DiskIndex present = index;
        if (present != null) {
            present.uncover(container);
        }
    }

    byte @Nullable [] frameTable(long container) throws IOException {
        DiskIndex present = index;
        return present == null ? null : present.frameTable(container);
    }

    void forEachOf(long container, ChunkIndex.SlotVisitor visitor) throws IOException {
        DiskIndex present = index;
        if (present != null) {
            present.forEachOf(container, visitor);
        }
    }

    /** Visits entries from a fingerprint on; see {@link DiskIndex#forEachFrom}. */
    void forEachFrom(byte[] fingerprint, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        DiskIndex present = index;
        if (present != null) {
            present.forEachFrom(fingerprint, count, visitor);
        }
    }

    DiskIndexUse use() {
        DiskIndex present = index;
        return present == null ? DiskIndexUse.NONE : present.use();
    }

    @Override
    public void close() throws IOException {
        DiskIndex present = index;
        index = null;
        if (present != null) {
            present.close();
        }
    }
}
