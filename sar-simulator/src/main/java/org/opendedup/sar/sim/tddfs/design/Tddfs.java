package org.opendedup.sar.sim.tddfs.design;

import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.SlowReads;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.Work;

/**
 * TDDFS as published (sections 3.2 to 3.6). New files are whole on the fast tier; they are deduplicated when they leave
 * it. A file that is opened on the slow tier is reloaded as chunks: only those that the fast tier does not have are
 * moved. A write to a reloaded file makes modified chunks, which belong to it alone. When it leaves again, chunks that
 * are not modified and that the slow tier still has move no bytes.
 */
public final class Tddfs extends FileDesign {
    final ChunkStore store;
    private final RecipeSpace recipes;
    /** Bytes of modified chunks on the fast tier. */
    private long modifiedBytes;

    public Tddfs(Tiers tiers) {
        super(tiers, true);
        store = new ChunkStore(tiers);
        recipes = RecipeSpace.limited(tiers);
    }

    @Override
    void readStored(StoredFile file, long offset, long length) {
        Recipe recipe = file.chunks();
        if (file.place == StoredFile.Place.LOWERED) {
            bringRecipe(file);
        }
        Recipe.Range range = recipe.find(offset, offset + length);
        clock.openChunks(range.size());
        if (file.place == StoredFile.Place.RELOADED) {
            long pending = file.pendingBytes(offset + length, length);
            clock.slow(pending, 1);
            clock.fastChunks(false, length - pending, range.size());
            return;
        }
        SlowReads.Reads missing = store.missing(recipe, range);
        clock.slow(missing.bytes(), missing.seeks());
        clock.fastChunks(false, Math.max(0, length - missing.bytes()), range.size());
        reload(file, missing.bytes());
    }

    /**
     * Writes to a reloaded file, or to one that is reloaded by this write: the modified chunks count as restored, so
     * the reload leaves them out (section 3.6, the paper's Restore Flag).
     */
    @Override
    void writeStored(StoredFile file, long offset, long length) {
        boolean isLowered = file.place == StoredFile.Place.LOWERED;
        if (isLowered) {
            bringRecipe(file);
        }
        Recipe recipe = file.chunks();
        long end = offset + length;
        Recipe.Range range = recipe.find(offset, end);
        clock.openChunks(range.size());
        Written written = new Written();
        long start = range.startByte();
        for (int i = range.from(); i < range.to(); i++) {
            int bytes = recipe.bytes(i);
            boolean isPartial = Chunks.isPartial(start, start + bytes, offset, end);
            written.changedBytes = Math.min(end, start + bytes) - Math.max(offset, start);
            if (Recipe.isModified(recipe.entry(i))) {
                written.bytes += written.changedBytes;
            } else if (isLowered) {
                replaceLowered(recipe, i, isPartial, written);
            } else {
                replaceReloaded(recipe, i, isPartial, written);
            }
            start += bytes;
        }
        long appended = Math.max(0, end - file.size);
        Chunks.append(recipe, appended);
        modifiedBytes += appended;
        clock.dedup(0, written.lookUps);
        clock.fastChunks(false, written.readBytes, written.readChunks);
        clock.fastChunks(true, written.bytes + appended, range.size() + 1);
        if (isLowered) {
            reload(file, 0);
        }
        recipes.set(file.number, recipe.size());
    }

    /** What a write costs on the fast tier. */
    private static final class Written {
        /** Bytes of the present chunk that the request writes. */
        long changedBytes;

        long bytes;
        long readBytes;
        int readChunks;
        int lookUps;

        void read(int chunkBytes) {
            readBytes += chunkBytes;
            readChunks++;
        }
    }

    /** Makes a modified chunk in the place of one that is still on the slow tier. */
    private void replaceLowered(Recipe recipe, int index, boolean isPartial, Written written) {
        int content = recipe.entry(index);
        int bytes = recipe.bytes(index);
        written.lookUps++;
        written.bytes += bytes;
        if (isPartial && store.fast.isPresent(content)) {
            written.read(bytes);
        } else if (isPartial) {
            clock.slow(bytes, 1);
            traffic.up(bytes, bytes);
        }
        store.slow.release(content);
        recipe.modify(index);
        modifiedBytes += bytes;
    }

    /** Makes a modified chunk in the place of one on the fast tier: over it if no other file has it, else beside it. */
    private void replaceReloaded(Recipe recipe, int index, boolean isPartial, Written written) {
        int content = recipe.entry(index);
        int bytes = recipe.bytes(index);
        written.lookUps++;
        recipe.modify(index);
        modifiedBytes += bytes;
        if (store.fast.count(content) == 1 && store.slow.count(content) == 0) {
            store.fast.overwrite(content);
            written.bytes += written.changedBytes;
            return;
        }
        store.fast.release(content);
        written.bytes += bytes;
        if (isPartial) {
            written.read(bytes);
        }
    }

    private void bringRecipe(StoredFile file) {
        long bytes = recipes.opened(file.number);
        traffic.recipe(bytes);
        clock.slow(bytes, 1);
    }

    /** Moves the chunks that the fast tier does not have (section 3.4). */
    private void reload(StoredFile file, long alreadyRead) {
        Recipe recipe = file.chunks();
        SlowReads reads = store.beginReads();
        for (int i = 0; i < recipe.size(); i++) {
            int entry = recipe.entry(i);
            if (Recipe.isModified(entry)) {
                continue;
            }
            if (store.fast.reference(entry)) {
                reads.add(entry);
            }
            store.slow.release(entry);
        }
        SlowReads.Reads read = reads.reads();
        long moved = read.bytes();
        traffic.up(moved, moved);
        TierClock.Job job = clock.startJob(Work.up(Math.max(0, moved - alreadyRead), read.seeks(), moved));
        file.reloadedBy(job, (double) moved / Math.max(1, file.size));
        file.place = StoredFile.Place.RELOADED;
        store.collectSlow(content -> {});
    }

    @Override
    void lower(StoredFile file) {
        boolean isReloaded = file.place == StoredFile.Place.RELOADED;
        ChunkStore.Lowering lowering = store.lower(file, isReloaded);
        long read = lowering.cutBytes() + lowering.copiedBytes();
        traffic.down(read, lowering.writtenBytes());
        clock.startJob(lowering.work(read, lowering.cutBytes()));
        if (isReloaded) {
            modifiedBytes -= lowering.cutBytes();
        } else {
            rawBytes -= file.size;
        }
        file.place = StoredFile.Place.LOWERED;
        recipes.set(file.number, file.chunks().size());
        long recipeBytes = recipes.lowered(file.number);
        traffic.recipe(recipeBytes);
        if (recipeBytes > 0) {
            clock.startJob(Work.down(recipeBytes));
        }
    }

    @Override
    void dropStored(StoredFile file) {
        Recipe recipe = file.chunks();
        for (int i = 0; i < recipe.size(); i++) {
            int entry = recipe.entry(i);
            if (Recipe.isModified(entry)) {
                modifiedBytes -= recipe.bytes(i);
            } else if (file.place == StoredFile.Place.RELOADED) {
                store.fast.release(entry);
            } else {
                store.slow.release(entry);
            }
        }
        recipes.remove(file.number);
        store.collectSlow(content -> {});
    }

    @Override
    void collectFast() {
        store.fast.collect(content -> {});
    }

    @Override
    public long fastBytes() {
        return rawBytes + modifiedBytes + store.fast.bytes() + recipes.fastBytes();
    }

    @Override
    public long slowBytes() {
        return store.slow.bytes() + recipes.slowBytes();
    }
}
