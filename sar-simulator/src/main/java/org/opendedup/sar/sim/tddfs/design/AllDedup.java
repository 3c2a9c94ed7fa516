package org.opendedup.sar.sim.tddfs.design;

import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.sim.tddfs.policy.ChunkLru;
import org.opendedup.sar.sim.tddfs.tier.IntColumn;
import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.SlowReads;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.Traffic;
import org.opendedup.sar.sim.tddfs.tier.Work;

/**
 * Everything is deduplicated before it is stored, and chunks migrate, the least recently used ones first (TDDFS paper,
 * section 5.1). A chunk is on one tier: a read moves it to the fast one. A chunk without references is removed at once.
 * Chunks are read one after another, because the paper's implementation has no optimization of reading (section 5.2).
 */
public final class AllDedup implements Design {
    private final TierClock clock;
    private final Traffic traffic;
    private final Tiers tiers;
    final ChunkStore store;
    private final RecipeSpace recipes;
    final Map<Integer, StoredFile> files = new HashMap<>();
    final IntColumn references = new IntColumn();
    private final ChunkLru order = new ChunkLru();
    private int requests;

    public AllDedup(Tiers tiers) {
        this.tiers = tiers;
        clock = tiers.clock();
        traffic = tiers.traffic();
        store = new ChunkStore(tiers);
        recipes = RecipeSpace.unlimited(tiers);
    }

    @Override
    public void create(int number, long bytes) {
        begin();
        if (files.containsKey(number)) {
            drop(number);
        }
        StoredFile file = new StoredFile(number, bytes);
        files.put(number, file);
        file.recipe = store.cut(file, bytes);
        take(file.recipe, bytes);
        recipes.set(number, file.recipe.size());
        makeRoom();
    }

    /** Deduplicates what was cut, and stores what is new on the fast tier. */
    private void take(Recipe cut, long bytes) {
        clock.dedup(bytes, cut.size());
        long newBytes = 0;
        int newChunks = 0;
        for (int i = 0; i < cut.size(); i++) {
            int content = cut.entry(i);
            references.set(content, references.get(content) + 1);
            if (!store.fast.isPresent(content) && !store.slow.isPresent(content)) {
                store.fast.put(content);
                newBytes += cut.bytes(i);
                newChunks++;
            }
            if (store.fast.isPresent(content)) {
                order.used(content, requests);
            }
        }
        clock.fastChunks(true, newBytes, newChunks);
    }

    @Override
    public void read(int number, long offset, long length) {
        begin();
        StoredFile file = file(number);
        Recipe recipe = file.chunks();
        Recipe.Range range = recipe.find(offset, offset + length);
        SlowReads.Reads missing = store.missing(recipe, range);
        clock.dedup(0, range.size());
        clock.openChunks(range.size());
        clock.slow(missing.bytes(), missing.seeks());
        clock.fastChunksInTurn(Math.max(0, length - missing.bytes()), range.size());
        bring(recipe, tiers.rules().allDedupBringsFiles() ? recipe.find(0, file.size) : range);
        makeRoom();
    }

    /** Moves the chunks of a range to the fast tier; the request has read those that were not there. */
    private void bring(Recipe recipe, Recipe.Range range) {
        long moved = 0;
        for (int i = range.from(); i < range.to(); i++) {
            int content = recipe.entry(i);
            if (!store.fast.isPresent(content)) {
                store.slow.drop(content);
                store.fast.put(content);
                moved += recipe.bytes(i);
            }
            order.used(content, requests);
        }
        traffic.up(moved, moved);
        if (moved > 0) {
            clock.startJob(Work.up(0, 0, moved));
        }
    }

    @Override
    public void write(int number, long offset, long length) {
        begin();
        StoredFile file = file(number);
        Recipe recipe = file.chunks();
        long end = offset + length;
        Recipe.Range range = recipe.find(offset, end);
        readBordersOf(recipe, range, offset, end);
        long start = range.size() == 0 ? offset : range.startByte();
        long bytes = Math.max(end, range.endByte()) - start;
        Recipe cut = store.cut(file, bytes);
        take(cut, bytes);
        for (int i = range.from(); i < range.to(); i++) {
            release(recipe.entry(i));
        }
        recipe.replace(range, cut);
        file.size = Math.max(file.size, end);
        recipes.set(number, file.chunks().size());
        makeRoom();
    }

    /** Reads the chunks that a write changes in part, and moves them to the fast tier. */
    private void readBordersOf(Recipe recipe, Recipe.Range range, long offset, long end) {
        long start = range.startByte();
        for (int i = range.from(); i < range.to(); i++) {
            int content = recipe.entry(i);
            int bytes = recipe.bytes(i);
            if (Chunks.isPartial(start, start + bytes, offset, end)) {
                if (store.fast.isPresent(content)) {
                    clock.fast(false, bytes);
                } else {
                    clock.slow(bytes, 1);
                    store.slow.drop(content);
                    store.fast.put(content);
                    traffic.up(bytes, bytes);
                }
                order.used(content, requests);
            }
            start += bytes;
        }
    }

    @Override
    public void delete(int number) {
        begin();
        drop(number);
    }

    private void drop(int number) {
        Recipe recipe = file(number).chunks();
        for (int i = 0; i < recipe.size(); i++) {
            release(recipe.entry(i));
        }
        recipes.remove(number);
        files.remove(number);
    }

    private void release(int content) {
        int count = references.get(content) - 1;
        references.set(content, count);
        if (count > 0) {
            return;
        }
        if (store.fast.isPresent(content)) {
            store.fast.drop(content);
            order.remove(content);
        } else {
            store.slow.drop(content);
        }
    }

    private void begin() {
        clock.beginRequest();
        requests++;
    }

    private StoredFile file(int number) {
        StoredFile file = files.get(number);
        if (file == null) {
            throw new IllegalArgumentException("there is no file " + number);
        }
        return file;
    }

    private void makeRoom() {
        if (fastBytes() <= tiers.fastLimitBytes()) {
            return;
        }
        long moved = 0;
        while (fastBytes() > tiers.stopBytes() && !order.isEmpty()) {
            int content = order.oldest();
            order.remove(content);
            store.fast.drop(content);
            store.slow.put(content);
            moved += store.contents.length(content);
        }
        traffic.down(moved, moved);
        if (moved > 0) {
            clock.startJob(Work.down(moved));
        }
    }

    @Override
    public long fastBytes() {
        return store.fast.bytes() + recipes.fastBytes();
    }

    @Override
    public long slowBytes() {
        return store.slow.bytes();
    }
}
