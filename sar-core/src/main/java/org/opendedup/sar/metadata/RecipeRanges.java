package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;

/**
 * Ranges of files in their recipes: where data lies, punching holes, copying references. Walks over the records there are,
 * never over page numbers, so a hole costs nothing however long it is. Changes go in steps of a bounded number of pages,
 * each page together with its counts; for them the same holds as for {@link RecipeStore#replace(long, long, RecipePage)}: the caller locks the
 * files, and keeps {@link MetadataStore#freeze()} away.
 */
public final class RecipeRanges {
    /**
     * References of the pages of one step: 1024 pages of a usual file have as many as 40 000. A page can have one for each byte,
     * and all pages of a step are in memory, and pending, at once.
     */
    private static final int MAX_REFERENCES = 1 << 16;

    private final RecipeStore recipes;
    private final ReferenceCounts counts;
    private final int pageBytes;

    RecipeRanges(RecipeStore recipes, ReferenceCounts counts, int pageBytes) {
        this.recipes = recipes;
        this.counts = counts;
        this.pageBytes = pageBytes;
    }

    /** The first byte from {@code from} to {@code to} (exclusive) that a chunk gives; {@code to} if there is none. */
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

    /** The first byte from {@code from} to {@code to} (exclusive) that is in a hole or a zero run; {@code to} if there is none. */
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
     * Makes bytes {@code from} to {@code to} a hole, at most {@code maxPages} records of it.
     *
     * @return the offset up to which that is done: {@code to}, or less if there may be more
     */
    public long punch(long inode, long from, long to, int maxPages) throws IOException {
        long[] pages = recipes.existingPages(inode, from / pageBytes, pageBehind(to), maxPages);
        RecipePage.Builder builder = new RecipePage.Builder();
        for (long page : pages) {
            punchPage(inode, page, from, to, builder);
        }
        return pages.length == maxPages ? Math.min(to, (pages[maxPages - 1] + 1) * pageBytes) : to;
    }

    private void punchPage(long inode, long number, long from, long to, RecipePage.Builder builder) throws IOException {
        RecipePage page = recipes.page(inode, number);
        int hole = (int) Math.max(0, from - number * pageBytes);
        int behind = (int) Math.min(pageBytes, to - number * pageBytes);
        int data = page.nextData(hole);
        if (data < 0 || data >= behind) {
            return;
        }
        builder.addRange(page, 0, hole).addRange(RecipePage.EMPTY, hole, behind);
        recipes.replace(inode, number, page, withTail(builder, page, behind));
    }

    /** Adds what {@code page} says of the bytes from {@code behind} on. */
    private RecipePage withTail(RecipePage.Builder builder, RecipePage page, int behind) {
        if (behind < page.bytes()) {
            builder.addRange(page, behind, page.bytes());
        }
        return builder.build();
    }

    /** Number of the first page that has no byte before {@code end}. */
    private long pageBehind(long end) {
        return (end + pageBytes - 1) / pageBytes;
    }

    /**
     * A copy of {@code length} bytes of a file's recipe. Both files may be the same one if the ranges do not overlap.
     *
     * @param source inode of the file that is read
     * @param from offset in it
     * @param target inode of the file that is changed
     * @param to offset in it
     */
    public record Copy(long source, long from, long target, long to, long length) {}

    /** Told what a copy does to its target, page by page. */
    public interface CopyListener {
        /** Chunks are going to give so many bytes more of the target; throws to have that not done. */
        default void growing(long bytes) throws IOException {}

        /** The target's recipe now describes its bytes {@code from} to {@code to} as they were copied. */
        void copied(long from, long to);
    }

    /**
     * Makes bytes of one file refer to the chunks of another's: at most {@code maxPages} records of either, fewer if they have many
     * references. Where the two
     * offsets have the same place in their pages, whole records are taken over; else their entries are cut anew at the
     * target's page borders. The listener hears of each page after it was changed, in rising order, without gaps.
     *
     * @return bytes copied: the length, or less if there is more
     * @throws PosixException EOPNOTSUPP if a chunk has as many references as can be counted; the bytes themselves can be copied
     */
    public long copy(Copy copy, int maxPages, CopyListener listener) throws IOException {
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
        new Copying(copy, copy.to + length, source, replaced).run(listener);
        return length;
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

    /** Pages with a record, in order. */
    private static final class Pages {
        private final int max;
        private long[] numbers = new long[16];
        private RecipePage[] pages = new RecipePage[16];
        private int count;
        /** In all pages. */
        private int references;

        Pages(int max) {
            this.max = max;
        }

        boolean isFull() {
            return count == max || references >= MAX_REFERENCES;
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

    /** One step of a copy, going up through both files at once. */
    private final class Copying {
        private final Copy copy;
        private final long end;
        /** From an offset in the target to the one in the source. */
        private final long shift;

        private final Pages source;
        private final long[] replaced;
        private final RecipePage.Builder builder = new RecipePage.Builder();
        /** The first source page that has bytes at or behind the place that was reached. */
        private int nextSource;

        private int nextReplaced;

        Copying(Copy copy, long end, Pages source, long[] replaced) {
            this.copy = copy;
            this.end = end;
            this.shift = copy.from - copy.to;
            this.source = source;
            this.replaced = replaced;
        }

        void run(CopyListener listener) throws IOException {
            long at = copy.to;
            while (at < end) {
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
        }

        /** The next target page, from the one of {@code at} on, that has a record or gets one; else one behind the end. */
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
                        "a chunk of inode " + copy.source + " has as many references as can be counted");
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
