package org.opendedup.sar.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.sort.SortSteps;
import org.opendedup.sar.sort.TupleSort;

/**
 * Compares all entries of the fingerprint index with the counts and the directories of the containers that they name,
 * while the volume is in use, and changes nothing. Sorts the entries by chunk in scratch files, 40 bytes each, so that
 * each directory is read once; memory is 32 MiB. For use by one thread.
 */
public final class IndexCheck {
    private static final String STAGE = "entries of the index";
    private static final int FINGERPRINT_LONGS = Fingerprints.BYTES / Long.BYTES;
    private static final int COLUMNS = 1 + FINGERPRINT_LONGS;

    /** Entries that are read with one cursor of the index. */
    private static final int ENTRIES_AT_ONCE = 8192;

    /** Entries that are named; the others are only counted. */
    private static final int MOST_NAMED = 10;

    /**
     * What was found.
     *
     * @param entries number of entries
     * @param wrong entries that name a chunk with another fingerprint
     * @param stale entries that name a chunk that is not stored
     * @param named some of these, as sentences without a full stop
     * @param notChecked why not all entries were compared; null if they were
     */
    public record Report(
            long entries,
            long wrong,
            long stale,
            List<String> named,
            @Nullable String notChecked) {}

    private final ChunkIndex index;
    private final Directories directories;
    private final Progress progress;
    private final List<String> named = new ArrayList<>();
    private long entries;
    private long wrong;
    private long stale;

    /** @param progress called for each entry, with the number of entries read or compared */
    public IndexCheck(ChunkIndex index, Scrubber.Parts parts, Progress progress) {
        this.index = index;
        this.progress = progress;
        directories = new Directories(parts);
    }

    /**
     * Compares all entries. Says so in the report if the index cannot be read.
     *
     * @param scratch a directory for the files of the sort, which are deleted at the end
     * @param steps called before each write to it
     * @param memoryBytes bytes of entries that are in memory at once; ordering them needs half as much in addition
     * @param keys of an encrypted volume; null: it is not encrypted
     * @throws InterruptedIOException if {@code progress} stopped it
     */
    public Report run(Directory scratch, SortSteps steps, int memoryBytes, @Nullable VolumeKeys keys)
            throws IOException {
        String notChecked = null;
        try (TupleSort sort = new TupleSort(scratch, "entries", COLUMNS, memoryBytes, steps, keys)) {
            if (index.keepsAnything()) {
                collect(sort);
                compare(sort.sorted(Long.MIN_VALUE));
            } else {
                notChecked = "the volume runs without one";
            }
        } catch (PartUnusable e) {
            notChecked = e.why();
        }
        return new Report(entries, wrong, stale, List.copyOf(named), notChecked);
    }

    private void collect(TupleSort sort) throws IOException, PartUnusable {
        long[] some = new long[ENTRIES_AT_ONCE * COLUMNS];
        long estimated = index.estimatedChunks();
        byte[][] position = new byte[1][];
        do {
            int[] filled = {0};
            PartUnusable.use(() ->
                    position[0] = index.forEachAfter(position[0], ENTRIES_AT_ONCE, (fingerprint, chunk) -> {
                        ByteBuffer bytes = ByteBuffer.wrap(fingerprint);
                        some[filled[0]++] = chunk;
                        for (int i = 0; i < FINGERPRINT_LONGS; i++) {
                            some[filled[0]++] = bytes.getLong(i * Long.BYTES);
                        }
                    }));
            for (int at = 0; at < filled[0]; at += COLUMNS) {
                sort.add(Arrays.copyOfRange(some, at, at + COLUMNS));
                entries++;
            }
            progress.at(STAGE, entries, Math.max(entries, estimated));
        } while (position[0] != null);
    }

    private void compare(TupleSort.Cursor cursor) throws IOException, PartUnusable {
        long present = -1;
        ContainerCounts counts = null;
        SealedContainer directory = null;
        long done = 0;
        while (cursor.next()) {
            long chunk = cursor.get(0);
            long container = ChunkId.container(chunk);
            if (counts == null || container != present) {
                progress.at(STAGE, done, entries);
                present = container;
                counts = directories.counts(container);
                directory = directories.get(container, counts);
            }
            done++;
            int slot = ChunkId.slot(chunk);
            if (!counts.isAlive(slot)) {
                // The counts of a container that is being written grow.
                if (isStillThere(cursor) && !directories.counts(container).isAlive(slot)) {
                    stale++;
                    name(cursor, "which is not stored");
                }
            } else if (directory != null
                    && Directories.isOther(directory, slot, fingerprint(cursor), 0)
                    && isStillThere(cursor)) {
                wrong++;
                name(cursor, "which has another fingerprint");
            }
        }
    }

    private static byte[] fingerprint(TupleSort.Cursor cursor) {
        ByteBuffer bytes = ByteBuffer.allocate(Fingerprints.BYTES);
        for (int i = 0; i < FINGERPRINT_LONGS; i++) {
            bytes.putLong(cursor.get(1 + i));
        }
        return bytes.array();
    }

    /** Returns whether nobody removed or replaced an entry since it was read. */
    private boolean isStillThere(TupleSort.Cursor cursor) throws PartUnusable {
        return Directories.leadsTo(index, fingerprint(cursor), cursor.get(0));
    }

    private void name(TupleSort.Cursor cursor, String what) {
        if (named.size() < MOST_NAMED) {
            named.add("fingerprint " + Fingerprints.toHex(fingerprint(cursor), 0) + " names chunk "
                    + ChunkId.toString(cursor.get(0)) + ", " + what);
        }
    }
}
