package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.opendedup.sar.common.ChunkId;

/**
 * Reads a recipe through a cache, in steps, and checks at each of them that the cache and the holder of the bytes
 * agree.
 */
final class TestReader implements ChunkHolder {
    private final TestRecipe recipe;
    private final long memoryBytes;
    private final ContainerCache cache;
    private final Set<Long> held = new HashSet<>();
    /** The chunks that the cache wants of the container being read. */
    private final Set<Long> wanted = new HashSet<>();

    private final List<Integer> reads = new ArrayList<>();
    private int head;

    private TestReader(TestRecipe recipe, long memoryBytes, Function<ChunkHolder, ContainerCache> maker) {
        this.recipe = recipe;
        this.memoryBytes = memoryBytes;
        this.cache = maker.apply(this);
    }

    /**
     * Returns the containers read, in order.
     *
     * @param stepReferences references read at once
     * @param onlyWanted whether only the missing chunks of a container are read, not all of it
     */
    static List<Integer> read(
            TestRecipe recipe, CachePolicy policy, CacheParameters parameters, int stepReferences, boolean onlyWanted) {
        var reader = new TestReader(recipe, parameters.memoryBytes(), holder -> policy.make(parameters, holder));
        return reader.read(stepReferences, onlyWanted);
    }

    static List<Integer> read(TestRecipe recipe, CachePolicy policy, CacheParameters parameters) {
        return read(recipe, policy, parameters, 1, false);
    }

    static List<Integer> read(TestRecipe recipe, long memoryBytes, Function<ChunkHolder, ContainerCache> maker) {
        return new TestReader(recipe, memoryBytes, maker).read(1, false);
    }

    private List<Integer> read(int stepReferences, boolean onlyWanted) {
        for (int from = 0; from < recipe.count(); from += stepReferences) {
            step(from, Math.min(recipe.count(), from + stepReferences), onlyWanted);
        }
        return reads;
    }

    private void step(int from, int to, boolean onlyWanted) {
        int end = recipe.windowEnd(to - 1, cache.windowBytes());
        while (head < end) {
            long chunkId = recipe.chunkIds()[head++];
            cache.ahead(chunkId, recipe.bytes(chunkId));
        }
        Set<Long> missing = new LinkedHashSet<>();
        for (int i = from; i < to; i++) {
            if (!cache.contains(recipe.chunkIds()[i])) {
                missing.add(recipe.chunkIds()[i]);
            }
        }
        // In disk order.
        Set<Integer> containers = new TreeSet<>();
        missing.forEach(chunkId -> containers.add((int) ChunkId.container(chunkId)));
        for (int container : containers) {
            reads.add(container);
            wanted.clear();
            for (int slot = 0; slot < recipe.lengths()[container].length; slot++) {
                if (cache.wants(ChunkId.of(container, slot))) {
                    wanted.add(ChunkId.of(container, slot));
                }
            }
            cache.read(container, contents(container, missing, onlyWanted));
            check();
        }
        for (int i = from; i < to; i++) {
            cache.advance();
            check();
        }
    }

    private void check() {
        assertTrue(cache.weightBytes() <= memoryBytes, "more than the memory");
        assertTrue(cache.weightBytes() <= cache.highWaterBytes());
        long heldBytes = held.stream().mapToLong(recipe::bytes).sum();
        if (cache instanceof LookaheadLogCache) {
            // A chunk that is in the log and in its container counts twice.
            assertTrue(heldBytes <= cache.weightBytes());
        } else {
            assertEquals(heldBytes, cache.weightBytes());
        }
        held.forEach(chunkId -> assertTrue(cache.contains(chunkId), () -> "lost " + ChunkId.toString(chunkId)));
        for (int i = Math.max(0, head - 30); i < head; i++) {
            long chunkId = recipe.chunkIds()[i];
            assertEquals(held.contains(chunkId), cache.contains(chunkId));
            assertFalse(cache.contains(chunkId) && cache.wants(chunkId));
        }
    }

    @Override
    public void keep(long chunkId) {
        assertTrue(held.add(chunkId), () -> "kept twice: " + ChunkId.toString(chunkId));
        assertTrue(wanted.contains(chunkId), () -> "kept, but not wanted: " + ChunkId.toString(chunkId));
    }

    @Override
    public void drop(long chunkId) {
        assertTrue(held.remove(chunkId), () -> "dropped, but not kept: " + ChunkId.toString(chunkId));
        // It may leave the log and return with its container, in one read.
        wanted.add(chunkId);
    }

    private ContainerContents contents(int container, Set<Long> missing, boolean onlyWanted) {
        int[] lengths = recipe.lengths()[container];
        List<Integer> slots = new ArrayList<>();
        for (int slot = 0; slot < lengths.length; slot++) {
            if (!onlyWanted || missing.contains(ChunkId.of(container, slot))) {
                slots.add(slot);
            }
        }
        assertFalse(slots.isEmpty());
        return new ContainerContents() {
            @Override
            public int chunksInContainer() {
                return lengths.length;
            }

            @Override
            public int count() {
                return slots.size();
            }

            @Override
            public int slot(int index) {
                return slots.get(index);
            }

            @Override
            public int bytes(int index) {
                return lengths[slots.get(index)];
            }
        };
    }
}
