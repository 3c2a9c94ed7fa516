package org.opendedup.sar.volume.node;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.io.RandomFile;

/**
 * The bytes of a file in chunks that were written since it was migrated, and lie on the fast tier until it is migrated
 * again (TDDFS paper, §3.3: chunks whose modification flag is set). They are at their own offsets in a backing file,
 * which is a hole elsewhere. They replace what the recipe describes, and bytes in memory replace them.
 *
 * <p>The ranges are guarded by the file's {@link Node}, and change under the change lock, in the order of the changes
 * of recipe and size, so that a commit has both or neither. The bytes of a range are durable before a record has it.
 */
public final class ChangedBytes {
    private final RawFile file;
    private final ByteRanges ranges = new ByteRanges();
    private final Keeper keeper;

    /** Keeps the record of the ranges in the metadata. Called under the change lock. */
    public interface Keeper {
        /**
         * Called when ranges were added or removed, and some are left.
         *
         * @param isLess whether some were removed
         */
        void changed(RawFile file, List<ByteRanges.Range> ranges, boolean isLess);

        /** Called when no range is left: the backing file is not needed any more. */
        void ended(RawFile file);
    }

    /** @param file the backing file; its record has the ranges */
    public ChangedBytes(RawFile file, Keeper keeper) {
        this.file = file;
        this.keeper = keeper;
        List<ByteRanges.Range> recorded = file.record().changed();
        if (recorded != null) {
            ranges.addAll(recorded);
        }
    }

    public RawFile file() {
        return file;
    }

    /** Returns the number of bytes. */
    public long bytes() {
        return ranges.bytes();
    }

    /** Returns the number of ranges. */
    public int count() {
        return ranges.count();
    }

    /** Returns those of the bytes that are within a range, in ascending order. */
    public List<ByteRanges.Range> within(long from, long to) {
        return ranges.within(from, to);
    }

    /** Returns how many of the bytes are within a range. */
    public long bytesWithin(long from, long to) {
        return within(from, to).stream().mapToLong(ByteRanges.Range::bytes).sum();
    }

    /** Returns the first range at or after {@code from}, of a longer one {@code maxBytes}; null if there is none. */
    public ByteRanges.@Nullable Range next(long from, long maxBytes) {
        long start = ranges.nextPresent(from);
        return start == Long.MAX_VALUE
                ? null
                : new ByteRanges.Range(start, Math.min(ranges.nextAbsent(start), start + maxBytes));
    }

    /** Returns the first offset at or after {@code from} that is here; {@link Long#MAX_VALUE} if there is none. */
    long nextPresent(long from) {
        return ranges.nextPresent(from);
    }

    /** Returns the first offset at or after {@code from} that is not here. */
    long nextAbsent(long from) {
        return ranges.nextAbsent(from);
    }

    /** Adds ranges whose bytes are durable in the backing file. */
    public void add(List<ByteRanges.Range> more) {
        ranges.addAll(more);
        keeper.changed(file, ranges.ranges(), false);
    }

    /** Removes bytes that are stored in chunks, replaced or dropped. */
    void remove(long from, long to) {
        if (!ranges.remove(from, to)) {
            return;
        }
        if (ranges.isEmpty()) {
            keeper.ended(file);
        } else {
            keeper.changed(file, ranges.ranges(), true);
        }
    }

    boolean isEmpty() {
        return ranges.isEmpty();
    }

    /**
     * Reads some of the bytes. Called without a lock: the ranges may have changed meanwhile, which the caller finds out
     * afterwards.
     *
     * @param parts what to read
     * @param target receives them; its position corresponds to {@code offset}
     */
    public static void read(RawFile file, List<ByteRanges.Range> parts, long offset, ByteBuffer target)
            throws IOException {
        file.noteAccess(System.currentTimeMillis());
        RandomFile opened = file.use(false);
        try {
            for (ByteRanges.Range part : parts) {
                int at = target.position() + (int) (part.from() - offset);
                if (opened.read(part.from(), target.slice(at, (int) part.bytes())) < part.bytes()) {
                    throw new EOFException("inode " + file.inode() + " has bytes on the fast tier from offset "
                            + part.from() + " to " + part.to() + ", and its file there is shorter");
                }
            }
        } finally {
            file.leave(false);
        }
    }
}
