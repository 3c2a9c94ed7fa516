package org.opendedup.sar.metadata.recipes;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * Operations on ranges of files in their recipes: finding data, punching holes, copying references. They read only
 * records that exist, never every page number, so a hole costs nothing whatever its length. Changes are made in steps
 * of a bounded number of pages, each page together with its counts. Changes have the same conditions as
 * {@link RecipeStore#replace(long, long, RecipePage)}: the caller locks the files, and prevents
 * {@link MetadataStore#freeze()}.
 */
public final class RecipeRanges {
    private final RecipeStore recipes;
    private final ReferenceCounts counts;
    private final int pageBytes;

    public RecipeRanges(RecipeStore recipes, ReferenceCounts counts) {
        this.recipes = recipes;
        this.counts = counts;
        pageBytes = recipes.pageBytes();
    }

    /**
     * Returns the offset of the first byte from {@code from} to {@code to} (exclusive) that is in a chunk; {@code to}
     * if there is none.
     */
    public long nextData(long inode, long from, long to) throws IOException {
        try (Cursor cursor = recipes.scan(inode, from / pageBytes, pageBehind(to))) {
            while (cursor.next()) {
                long start = RecipeStore.pageNumber(cursor) * pageBytes;
                int data = recipes.decode(cursor).nextData((int) Math.max(0, from - start));
                if (data >= 0) {
                    return Math.min(to, start + data);
                }
            }
        }
        return to;
    }

    /**
     * Returns the offset of the first byte from {@code from} to {@code to} (exclusive) that is in a hole or a zero run;
     * {@code to} if there is none.
     */
    public long nextHole(long inode, long from, long to) throws IOException {
        long at = from;
        try (Cursor cursor = recipes.scan(inode, from / pageBytes, pageBehind(to))) {
            while (at < to && cursor.next() && RecipeStore.pageNumber(cursor) == at / pageBytes) {
                long start = at - at % pageBytes;
                int hole = recipes.decode(cursor).nextHole((int) (at - start));
                at = start + hole;
                if (hole < pageBytes) {
                    break;
                }
            }
        }
        return Math.min(at, to);
    }

    /**
     * Turns bytes {@code from} to {@code to} into a hole, until the limit is reached.
     *
     * @return the offset up to which that is done: {@code to}, or less if there may be more to do
     */
    public long punch(long inode, long from, long to, StepLimit limit) throws IOException {
        long ends = limit.end();
        long[] pages = recipes.existingPages(inode, from / pageBytes, pageBehind(to), limit.pages());
        RecipePage.Builder builder = new RecipePage.Builder();
        for (int done = 0; done < pages.length; done++) {
            if (done > 0 && limit.isOver(ends)) {
                return pages[done] * pageBytes;
            }
            punchPage(inode, pages[done], from, to, builder);
        }
        return pages.length == limit.pages() ? Math.min(to, (pages[pages.length - 1] + 1) * pageBytes) : to;
    }

    private void punchPage(long inode, long number, long from, long to, RecipePage.Builder builder) throws IOException {
        RecipePage page = recipes.page(inode, number);
        int hole = (int) Math.max(0, from - number * pageBytes);
        int end = (int) Math.min(pageBytes, to - number * pageBytes);
        int data = page.nextData(hole);
        if (data < 0 || data >= end) {
            return;
        }
        builder.addRange(page, 0, hole).addRange(RecipePage.EMPTY, hole, end);
        recipes.replace(inode, number, page, withTail(builder, page, end));
    }

    /** Adds the entries of {@code page} for the bytes from {@code end} on. */
    private RecipePage withTail(RecipePage.Builder builder, RecipePage page, int end) {
        if (end < page.bytes()) {
            builder.addRange(page, end, page.bytes());
        }
        return builder.build();
    }

    /** Returns the number of the first page that has no byte below offset {@code end}. */
    private long pageBehind(long end) {
        return (end + pageBytes - 1) / pageBytes;
    }

    /**
     * A copy of a range of a file's recipe. Both files may be the same one if the ranges do not overlap.
     *
     * @param source inode number of the file that is read
     * @param from offset in the source
     * @param target inode number of the file that is changed
     * @param to offset in the target
     * @param length bytes to copy
     */
    public record Copy(long source, long from, long target, long to, long length) {}

    /** Notified of a copy's changes to its target, page by page. */
    public interface CopyListener {
        /**
         * Announces that the target will have this number of additional bytes in chunks; throws to prevent the change.
         */
        default void growing(long bytes) throws IOException {}

        /** Reports that the target's recipe now describes bytes {@code from} to {@code to} of the target as copied. */
        void copied(long from, long to);
    }

    /**
     * Makes bytes of one file refer to the chunks of another. Processes at most as many records of each file as the
     * limit allows, and fewer if they have many references or the time is over. Where both offsets have the same
     * position in their pages, whole records are copied; otherwise their entries are cut again at the target's page
     * borders. The listener is notified of each page after its change, in ascending order, without gaps.
     *
     * @return bytes copied: the length, or less if there is more to copy
     * @throws PosixException EOPNOTSUPP if a chunk has as many references as can be counted, or, of a source in a
     *     snapshot, was given up for another copy meanwhile; the bytes themselves can be copied
     */
    public long copy(Copy copy, StepLimit limit, CopyListener listener) throws IOException {
        int maxPages = limit.pages();
        long ends = limit.end();
        Pages source = read(copy.source, copy.from / pageBytes, pageBehind(copy.from + copy.length), maxPages);
        long length = copy.length;
        if (source.isFull()) {
            length = Math.min(length, (source.numbers[source.count - 1] + 1) * pageBytes - copy.from);
        }
        long[] replaced =
                recipes.existingPages(copy.target, copy.to / pageBytes, pageBehind(copy.to + length), maxPages);
        if (replaced.length == maxPages) {
            length = Math.min(length, (replaced[maxPages - 1] + 1) * pageBytes - copy.to);
        }
        return new Copying(copy, copy.to + length, source, replaced).run(limit, ends, listener) - copy.to;
    }

    private Pages read(long inode, long from, long to, int max) throws IOException {
        Pages pages = new Pages(max);
        try (Cursor cursor = recipes.scan(inode, from, to)) {
            while (!pages.isFull() && cursor.next()) {
                pages.add(RecipeStore.pageNumber(cursor), recipes.decode(cursor));
            }
        }
        return pages;
    }

    /** Pages that have a record, in order. */
    private static final class Pages {
        private final int max;
        private long[] numbers = new long[16];
        private RecipePage[] pages = new RecipePage[16];
        private int count;
        /** Number of references in all pages. */
        private int references;

        Pages(int max) {
            this.max = max;
        }

        boolean isFull() {
            return count == max || references >= StepLimit.MAX_REFERENCES;
        }

        void add(long number, RecipePage page) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, Math.min(max, 2 * count));
                pages = Arrays.copyOf(pages, numbers.length);
            }
            numbers[count] = number;
            pages[count++] = page;
            references += page.count();
        }
    }

    /** One step of a copy, which advances through both files at the same time. */
    private final class Copying {
        private final Copy copy;
        private final long end;
        /** Difference from an offset in the target to the offset in the source, in bytes. */
        private final long shift;

        private final Pages source;
        private final long[] replaced;
        private final RecipePage.Builder builder = new RecipePage.Builder();
        /** Index of the first source page that has bytes at or after the current position. */
        private int nextSource;

        private int nextReplaced;

        Copying(Copy copy, long end, Pages source, long[] replaced) {
            this.copy = copy;
            this.end = end;
            this.shift = copy.from - copy.to;
            this.source = source;
            this.replaced = replaced;
        }

        /** Runs the step; returns the offset up to which the target is done. */
        long run(StepLimit limit, long ends, CopyListener listener) throws IOException {
            long at = copy.to;
            while (at < end && (at == copy.to || !limit.isOver(ends))) {
                long number = nextPage(at);
                long to = Math.min(end, (number + 1) * pageBytes);
                if (number * pageBytes < end) {
                    copyPage(number, Math.max(at, number * pageBytes), to, listener);
                } else {
                    to = end;
                }
                listener.copied(at, to);
                at = to;
            }
            return at;
        }

        /**
         * Returns the next target page, from the page of {@code at} on, that has a record or gets one; otherwise a page
         * number after the end.
         */
        private long nextPage(long at) {
            while (nextSource < source.count && (source.numbers[nextSource] + 1) * pageBytes <= at + shift) {
                nextSource++;
            }
            while (nextReplaced < replaced.length && replaced[nextReplaced] < at / pageBytes) {
                nextReplaced++;
            }
            long next = pageBehind(end);
            if (nextSource < source.count) {
                long first = Math.max(at, source.numbers[nextSource] * pageBytes - shift);
                next = Math.min(next, first / pageBytes);
            }
            return nextReplaced < replaced.length ? Math.min(next, replaced[nextReplaced]) : next;
        }

        private void copyPage(long number, long from, long to, CopyListener listener) throws IOException {
            boolean exists = nextReplaced < replaced.length && replaced[nextReplaced] == number;
            RecipePage before = exists ? recipes.page(copy.target, number) : RecipePage.EMPTY;
            RecipePage now = copied(before, number * pageBytes, from, to);
            if (!counts.hasRoomFor(now)) {
                throw new PosixException(
                        PosixException.Reason.EOPNOTSUPP,
                        "a chunk of inode " + copy.source + " cannot get another reference now");
            }
            if (exists || now.count() > 0) {
                int more = now.dataBytes() - before.dataBytes();
                if (more > 0) {
                    listener.growing(more);
                }
                recipes.replace(copy.target, number, before, now);
            }
        }

        private RecipePage copied(RecipePage before, long pageStart, long from, long to) {
            if (to - from == pageBytes && shift % pageBytes == 0) {
                return sourcePage((from + shift) / pageBytes);
            }
            builder.addRange(before, 0, (int) (from - pageStart));
            for (long at = from + shift; at < to + shift; ) {
                long number = at / pageBytes;
                long next = Math.min(to + shift, (number + 1) * pageBytes);
                builder.addRange(
                        sourcePage(number), (int) (at - number * pageBytes), (int) (next - number * pageBytes));
                at = next;
            }
            return withTail(builder, before, (int) (to - pageStart));
        }

        private RecipePage sourcePage(long number) {
            int found = Arrays.binarySearch(source.numbers, 0, source.count, number);
            return found >= 0 ? source.pages[found] : RecipePage.EMPTY;
        }
    }
}
