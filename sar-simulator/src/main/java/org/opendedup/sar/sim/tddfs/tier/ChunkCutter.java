package org.opendedup.sar.sim.tddfs.tier;

import java.util.SplittableRandom;
import org.opendedup.sar.sim.block.Mixing;

/**
 * Stands in for chunking: makes chunks of random lengths, of which a share are duplicates (TDDFS paper, section 5.1:
 * lengths between 512 bytes and 16 KiB; of deduplication ratio R, 1/R of the chunks are new, the others are
 * duplicates). Chunks count by their bytes, so that the ratio holds for bytes. The last chunk ends with the data and is
 * new. The same file gives the same chunks in every run with the same seed. For one thread.
 */
public final class ChunkCutter {
    /** The paper's shortest chunk. */
    public static final int LEAST_BYTES = 512;
    /** The paper's longest chunk. A file that is no longer is one chunk (section 3.2). */
    public static final int MOST_BYTES = 16 << 10;

    private static final int TRIES = 8;
    private static final int LEAST_POOL = 8;
    private static final int NONE = -1;

    private final Contents contents;
    private final Sharing sharing;
    private final long seed;

    /** Where the duplicates of a file's chunks are. */
    public enum Scope {
        /**
         * In the file itself. This is what the paper's emulation comes to: reloading any file moves 1/R of it, and all
         * of its duplicates count as being on the fast tier already.
         */
        FILE,
        /**
         * Anywhere among all chunks, at random: the fingerprints that the paper's emulation assigns. So whether a
         * duplicate is on the fast tier depends on the other files there.
         */
        ALL
    }

    /**
     * How chunks are shared.
     *
     * @param ratio bytes of files divided by the bytes of their different chunks, 1 or more
     * @param runChunks consecutive duplicates that are consecutive where they were first stored, 1 or more; 1 in the
     *     paper's emulation
     * @param grain chunks of the paper that one chunk of the model stands for, 1 or more: it is so many times as long,
     *     and takes so many times as long to look up and to open
     */
    public record Sharing(double ratio, Scope scope, int runChunks, int grain) {
        public Sharing {
            if (!(ratio >= 1 && ratio <= 1000) || runChunks < 1 || grain < 1) {
                throw new IllegalArgumentException("the deduplication ratio is 1 to 1000, not " + ratio
                        + "; a run and a grain have at least one chunk, not " + runChunks
                        + " and " + grain);
            }
        }
    }

    /** What was cut of one file up to now. Carries the ratio from one cut to the next. */
    public static final class History {
        private final int file;
        private int cuts;
        private long cutBytes;
        private long newBytes;

        /** @param file number of the file */
        public History(int file) {
            this.file = file;
        }
    }

    public ChunkCutter(Contents contents, Sharing sharing, long seed) {
        this.contents = contents;
        this.sharing = sharing;
        this.seed = seed;
    }

    /**
     * Cuts data of a file.
     *
     * @param pool recipe with chunks of the same file, from which duplicates are taken; may be {@code target}
     * @param target recipe to which the chunks are appended
     */
    public void cut(History history, long bytes, Recipe pool, Recipe target) {
        SplittableRandom random = new SplittableRandom(Mixing.mix(seed + history.file * Mixing.STEP) + history.cuts++);
        if (bytes <= MOST_BYTES) {
            addNew(history, (int) bytes, target);
            return;
        }
        int from = target.size();
        long left = bytes;
        int next = NONE;
        int run = 0;
        Source source = new Source(pool, 0);
        while (left > 0) {
            int length = sharing.grain() * random.nextInt(LEAST_BYTES, MOST_BYTES + 1);
            if (run == 0 && isNewDue(history, length)) {
                left -= addNew(history, (int) Math.min(length, left), target);
                continue;
            }
            if (run == 0) {
                // Duplicates of the same data, if there is enough of it: else those that are written over again and
                // again would have ever fewer duplicates.
                source = target.size() - from < LEAST_POOL ? new Source(pool, 0) : new Source(target, from);
                next = draw(source, random);
                run = sharing.runChunks();
            }
            int duplicate = duplicate(source, next);
            if (duplicate == NONE || contents.length(duplicate) > left) {
                left -= addNew(history, (int) Math.min(length, left), target);
                run = 0;
            } else {
                target.add(duplicate);
                history.cutBytes += contents.length(duplicate);
                left -= contents.length(duplicate);
                next++;
                run--;
            }
        }
    }

    /** Entries of a recipe from one on. */
    private record Source(Recipe recipe, int from) {}

    /** Returns whether the share of new bytes would be too small without another new chunk. */
    private boolean isNewDue(History history, int length) {
        return history.newBytes + length / 2.0 <= (history.cutBytes + length) / sharing.ratio();
    }

    private int addNew(History history, int length, Recipe target) {
        target.add(contents.add(length));
        history.cutBytes += length;
        history.newBytes += length;
        return length;
    }

    /** Returns the place of a random duplicate: an entry of the source, or a content. */
    private int draw(Source source, SplittableRandom random) {
        int from = sharing.scope() == Scope.FILE ? source.from() : 0;
        int end = sharing.scope() == Scope.FILE ? source.recipe().size() : contents.size();
        for (int i = 0; i < TRIES && end > from; i++) {
            int place = random.nextInt(from, end);
            if (duplicate(source, place) != NONE) {
                return place;
            }
        }
        return NONE;
    }

    /** Returns the content at a place, or {@link #NONE} if there is none that a fingerprint could find. */
    private int duplicate(Source source, int place) {
        if (place == NONE) {
            return NONE;
        }
        if (sharing.scope() == Scope.ALL) {
            return place < contents.size() ? place : NONE;
        }
        Recipe recipe = source.recipe();
        return place < recipe.size() && !Recipe.isModified(recipe.entry(place)) ? recipe.entry(place) : NONE;
    }
}
