package org.opendedup.sar.sim.tddfs.design;

import java.util.OptionalInt;
import org.opendedup.sar.sim.tddfs.policy.ChunkLru;
import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.SlowReads;
import org.opendedup.sar.sim.tddfs.tier.Work;

/**
 * TDDFS with the copies of SAR: new files are whole on the fast tier, and are deduplicated when they leave it. From
 * then on the slow tier has all of their chunks. The fast tier has copies of chunks that were read, and of those that a
 * reader is about to read; they are evicted without being written back. A write is deduplicated at once, and its new
 * chunks go to the slow tier. What leaves the fast tier next is the least recently used of raw files and copies.
 */
public final class TddfsSar extends FileDesign {
    final ChunkStore store;
    private final RecipeSpace recipes;
    private final ChunkLru copies = new ChunkLru();
    private final long windowBytes;
    private final boolean copiesWrites;

    /** @param copiesWrites whether the fast tier also gets copies of the chunks that a write makes */
    public TddfsSar(Tiers tiers, boolean copiesWrites) {
        super(tiers, true);
        this.copiesWrites = copiesWrites;
        store = new ChunkStore(tiers);
        recipes = RecipeSpace.limited(tiers);
        windowBytes = tiers.rules().windowBytes();
    }

    @Override
    boolean isSelectable(StoredFile file) {
        return file.place == StoredFile.Place.RAW;
    }

    @Override
    void readStored(StoredFile file, long offset, long length) {
        openRecipe(file);
        Recipe recipe = file.chunks();
        Recipe.Range range = recipe.find(offset, offset + length);
        clock.openChunks(range.size());
        SlowReads.Reads missing = store.missing(recipe, range);
        clock.slow(missing.bytes(), missing.seeks());
        clock.fastChunks(false, Math.max(0, length - missing.bytes()), range.size());
        long copied = copy(recipe, range);
        boolean continues = offset == file.lastReadEnd && offset > 0;
        Recipe.Range window = recipe.find(range.endByte(), continues ? range.endByte() + windowBytes : range.endByte());
        SlowReads.Reads ahead = continues ? store.missing(recipe, window) : new SlowReads.Reads(0, 0);
        long copiedAhead = continues ? copy(recipe, window) : 0;
        traffic.up(copied + copiedAhead, copied + copiedAhead);
        if (copied + copiedAhead > 0) {
            clock.startJob(Work.up(copiedAhead, ahead.seeks(), copied + copiedAhead));
        }
        closeRecipe(file);
    }

    /** Copies the chunks of a range to the fast tier; returns the bytes of those that it did not have. */
    private long copy(Recipe recipe, Recipe.Range range) {
        long copied = 0;
        for (int i = range.from(); i < range.to(); i++) {
            int content = recipe.entry(i);
            if (!store.fast.isPresent(content)) {
                store.fast.put(content);
                copied += recipe.bytes(i);
            }
            copies.used(content, requests);
        }
        return copied;
    }

    @Override
    void writeStored(StoredFile file, long offset, long length) {
        openRecipe(file);
        Recipe recipe = file.chunks();
        long end = offset + length;
        Recipe.Range range = recipe.find(offset, end);
        long start = range.size() == 0 ? offset : range.startByte();
        long stop = Math.max(end, range.endByte());
        readBordersOf(recipe, range, offset, end);
        Recipe cut = store.cut(file, stop - start);
        clock.dedup(stop - start, cut.size());
        long written = 0;
        for (int i = 0; i < cut.size(); i++) {
            written += store.slow.reference(cut.entry(i)) ? cut.bytes(i) : 0;
        }
        for (int i = range.from(); i < range.to(); i++) {
            store.slow.release(recipe.entry(i));
        }
        recipe.replace(range, cut);
        recipes.set(file.number, recipe.size());
        traffic.down(written, written);
        if (copiesWrites) {
            copy(recipe, recipe.find(start, stop));
            clock.fastChunks(true, stop - start, cut.size());
        }
        if (written > 0) {
            clock.startJob(new Work(0, 0, 0, 0, written, 0, 0));
        }
        closeRecipe(file);
        collectSlow();
    }

    /** Reads the chunks that a write changes in part. */
    private void readBordersOf(Recipe recipe, Recipe.Range range, long offset, long end) {
        long start = range.startByte();
        for (int i = range.from(); i < range.to(); i++) {
            int bytes = recipe.bytes(i);
            if (Chunks.isPartial(start, start + bytes, offset, end)) {
                if (store.fast.isPresent(recipe.entry(i))) {
                    clock.fast(false, bytes);
                } else {
                    clock.slow(bytes, 1);
                }
            }
            start += bytes;
        }
    }

    private void openRecipe(StoredFile file) {
        long bytes = recipes.opened(file.number);
        traffic.recipe(bytes);
        clock.slow(bytes, 1);
    }

    private void closeRecipe(StoredFile file) {
        long bytes = recipes.lowered(file.number);
        traffic.recipe(bytes);
        if (bytes > 0) {
            clock.startJob(Work.down(bytes));
        }
    }

    @Override
    void lower(StoredFile file) {
        ChunkStore.Lowering lowering = store.lower(file, false);
        traffic.down(file.size, lowering.writtenBytes());
        clock.startJob(lowering.work(file.size, file.size));
        rawBytes -= file.size;
        file.place = StoredFile.Place.LOWERED;
        recipes.set(file.number, file.chunks().size());
        closeRecipe(file);
    }

    @Override
    void dropStored(StoredFile file) {
        Recipe recipe = file.chunks();
        for (int i = 0; i < recipe.size(); i++) {
            store.slow.release(recipe.entry(i));
        }
        recipes.remove(file.number);
        collectSlow();
    }

    /** Collects the slow tier's garbage. A copy never outlives the chunk at home. */
    private void collectSlow() {
        store.collectSlow(content -> {
            if (store.fast.isPresent(content)) {
                evict(content);
            }
        });
    }

    private void evict(int content) {
        copies.remove(content);
        store.fast.drop(content);
    }

    @Override
    void makeRoom(int inUse) {
        if (!policy.mustStart(fastBytes())) {
            return;
        }
        while (!policy.mayStop(fastBytes())) {
            OptionalInt next = policy.next(inUse);
            if (!copies.isEmpty() && (next.isEmpty() || copies.oldestUse() <= file(next.getAsInt()).lastUse)) {
                evict(copies.oldest());
            } else if (next.isPresent()) {
                policy.remove(next.getAsInt());
                lower(file(next.getAsInt()));
            } else {
                return;
            }
        }
    }

    @Override
    public long fastBytes() {
        return rawBytes + store.fast.bytes() + recipes.fastBytes();
    }

    @Override
    public long slowBytes() {
        return store.slow.bytes() + recipes.slowBytes();
    }
}
