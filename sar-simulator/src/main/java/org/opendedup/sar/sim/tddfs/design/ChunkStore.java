package org.opendedup.sar.sim.tddfs.design;

import java.util.function.IntConsumer;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.ChunkTier;
import org.opendedup.sar.sim.tddfs.tier.Contents;
import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.SlowReads;
import org.opendedup.sar.sim.tddfs.tier.Work;

/** The chunks of a design that deduplicates, on both tiers. */
final class ChunkStore {
    final Contents contents = new Contents();
    final ChunkTier fast = new ChunkTier(contents);
    final ChunkTier slow = new ChunkTier(contents);
    private final SlowReads slowReads;
    private final ChunkCutter cutter;
    private final double garbageShare;

    ChunkStore(Tiers tiers) {
        slowReads = new SlowReads(contents, slow, tiers.sharing().grain());
        cutter = new ChunkCutter(contents, tiers.sharing(), tiers.seed());
        garbageShare = tiers.rules().garbageShare();
    }

    /**
     * What moving a file to the slow tier takes.
     *
     * @param writtenBytes chunks that the slow tier did not have
     * @param copiedBytes those of them that were not modified
     * @param cutBytes bytes that were cut: a new file, or the modified chunks
     */
    record Lowering(long writtenBytes, long copiedBytes, long cutBytes, long lookUps) {
        /** Returns the work, if so many bytes are read from the fast tier and so many are cut. */
        Work work(long readBytes, long cutBytes) {
            return new Work(readBytes, 0, 0, 0, writtenBytes, cutBytes, lookUps);
        }
    }

    /**
     * Gives a file's chunks to the slow tier and gives the file its new recipe. Modified chunks are cut again, those
     * next to each other together (TDDFS paper, section 3.3).
     *
     * @param isReloaded whether the file's other chunks have references on the fast tier, which end
     */
    Lowering lower(StoredFile file, boolean isReloaded) {
        Recipe old = file.recipe;
        Recipe made = new Recipe(contents);
        long written = 0;
        long copied = 0;
        long cut = 0;
        if (old == null) {
            cutter.cut(file.history, file.size, made, made);
            cut = file.size;
            written = referenceOnSlow(made, 0);
        }
        for (int i = 0; old != null && i < old.size(); i++) {
            int entry = old.entry(i);
            if (Recipe.isModified(entry)) {
                long run = old.bytes(i);
                while (i + 1 < old.size() && Recipe.isModified(old.entry(i + 1))) {
                    run += old.bytes(++i);
                }
                int from = made.size();
                cutter.cut(file.history, run, old, made);
                cut += run;
                written += referenceOnSlow(made, from);
                continue;
            }
            made.add(entry);
            if (slow.reference(entry)) {
                written += contents.length(entry);
                copied += contents.length(entry);
            }
            if (isReloaded) {
                fast.release(entry);
            }
        }
        file.recipe = made;
        return new Lowering(written, copied, cut, made.size());
    }

    /** Returns the bytes of the entries from an index on that the slow tier did not have. */
    private long referenceOnSlow(Recipe recipe, int from) {
        long written = 0;
        for (int i = from; i < recipe.size(); i++) {
            written += slow.reference(recipe.entry(i)) ? recipe.bytes(i) : 0;
        }
        return written;
    }

    /** Cuts new data of a file that has a recipe. */
    Recipe cut(StoredFile file, long bytes) {
        Recipe made = new Recipe(contents);
        cutter.cut(file.history, bytes, file.recipe == null ? made : file.recipe, made);
        return made;
    }

    /** Begins to collect reads from the slow tier. */
    SlowReads beginReads() {
        slowReads.begin();
        return slowReads;
    }

    /** Returns the reads of those chunks of a range that the fast tier does not have. */
    SlowReads.Reads missing(Recipe recipe, Recipe.Range range) {
        SlowReads reads = beginReads();
        for (int i = range.from(); i < range.to(); i++) {
            int entry = recipe.entry(i);
            if (!Recipe.isModified(entry) && !fast.isPresent(entry)) {
                reads.add(entry);
            }
        }
        return reads.reads();
    }

    /** Removes the slow tier's garbage if it has more than its share. */
    void collectSlow(IntConsumer removed) {
        if (slow.garbageBytes() > garbageShare * slow.bytes()) {
            slow.collect(removed);
        }
    }
}
