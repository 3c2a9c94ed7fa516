package org.opendedup.sar.sim.restore;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;

/**
 * A chunk trace as a store would have it: all versions packed into containers, in their order, and the recipes of the
 * selected versions.
 */
public final class PackedTrace implements ChunkTraceVisitor {
    private final IntPredicate wanted;
    private final ContainerPacker packer;
    private final List<Recipe> recipes = new ArrayList<>();
    private @Nullable Recipe open;
    private int versions;

    /**
     * Makes an empty one, which then visits a trace.
     *
     * @param wanted selects the versions whose recipes are kept
     */
    public PackedTrace(int containerBytes, IntPredicate wanted) {
        this.wanted = wanted;
        packer = new ContainerPacker(containerBytes);
    }

    @Override
    public void version(int number) {
        versions = number;
        packer.seal();
        open = wanted.test(number) ? new Recipe(number, packer.containers().count()) : null;
        if (open != null) {
            recipes.add(open);
        }
    }

    @Override
    public void chunk(long fingerprint, int bytes) {
        long chunkId = packer.put(fingerprint, bytes);
        if (open != null) {
            open.add(chunkId);
        }
    }

    /** Returns the last version's number. */
    public int versions() {
        return versions;
    }

    public PackedContainers containers() {
        return packer.containers();
    }

    /** Returns the recipes of the selected versions, in their order. */
    public List<Recipe> recipes() {
        return recipes;
    }

    /** Returns the fewest container reads that can restore a recipe: one for each container that it refers to. */
    public int floor(Recipe recipe) {
        var seen = new BitSet();
        for (int i = 0; i < recipe.count(); i++) {
            seen.set((int) ChunkId.container(recipe.chunkId(i)));
        }
        return seen.cardinality();
    }

    /** Returns the bytes that a recipe restores. */
    public long bytes(Recipe recipe) {
        long bytes = 0;
        for (int i = 0; i < recipe.count(); i++) {
            bytes += containers().bytes(recipe.chunkId(i));
        }
        return bytes;
    }
}
