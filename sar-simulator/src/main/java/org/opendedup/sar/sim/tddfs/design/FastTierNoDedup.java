package org.opendedup.sar.sim.tddfs.design;

import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.SlowReads;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.Work;

/**
 * Files are whole on the fast tier and deduplicated on the slow one; one that is opened there is restored as a whole
 * (TDDFS paper, section 5.1; as the Dell SC Series). A restored file keeps no recipe, so all of it is read and cut
 * again when it leaves the next time, although the slow tier may still have its chunks. The model remembers the recipe,
 * to know which contents the file has.
 */
public final class FastTierNoDedup extends FileDesign {
    private final ChunkStore store;
    private final RecipeSpace recipes;

    public FastTierNoDedup(Tiers tiers) {
        super(tiers, false);
        store = new ChunkStore(tiers);
        recipes = RecipeSpace.unlimited(tiers);
    }

    @Override
    void readStored(StoredFile file, long offset, long length) {
        Recipe.Range range = file.chunks().find(offset, offset + length);
        SlowReads.Reads missing = store.missing(file.chunks(), range);
        clock.slow(missing.bytes(), missing.seeks());
        clock.openChunks(range.size());
        reload(file, missing.bytes());
    }

    @Override
    void writeStored(StoredFile file, long offset, long length) {
        reload(file, 0);
        writeRaw(file, offset, length);
    }

    private void reload(StoredFile file, long alreadyRead) {
        Recipe recipe = file.chunks();
        SlowReads reads = store.beginReads();
        for (int i = 0; i < recipe.size(); i++) {
            reads.add(recipe.entry(i));
            store.slow.release(recipe.entry(i));
        }
        SlowReads.Reads read = reads.reads();
        traffic.up(read.bytes(), file.size);
        TierClock.Job job = clock.startJob(Work.up(Math.max(0, read.bytes() - alreadyRead), read.seeks(), file.size));
        file.reloadedBy(job, 1);
        recipes.remove(file.number);
        rawBytes += file.size;
        file.place = StoredFile.Place.RAW;
        store.collectSlow(content -> {});
    }

    @Override
    void changedRaw(StoredFile file, long offset, long length) {
        if (file.recipe != null) {
            Chunks.modify(file.chunks(), file.size, offset, length);
        }
    }

    @Override
    void lower(StoredFile file) {
        ChunkStore.Lowering lowering = store.lower(file, false);
        traffic.down(file.size, lowering.writtenBytes());
        clock.startJob(lowering.work(file.size, file.size));
        rawBytes -= file.size;
        recipes.set(file.number, file.chunks().size());
        file.place = StoredFile.Place.LOWERED;
    }

    @Override
    void dropStored(StoredFile file) {
        Recipe recipe = file.chunks();
        for (int i = 0; i < recipe.size(); i++) {
            store.slow.release(recipe.entry(i));
        }
        recipes.remove(file.number);
        store.collectSlow(content -> {});
    }

    @Override
    public long fastBytes() {
        return rawBytes + recipes.fastBytes();
    }

    @Override
    public long slowBytes() {
        return store.slow.bytes();
    }
}
