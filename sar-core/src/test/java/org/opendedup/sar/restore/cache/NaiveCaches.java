package org.opendedup.sar.restore.cache;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;

/**
 * Simple implementations of the policies: every decision examines the whole recipe again. Each returns the containers
 * read, in order.
 */
final class NaiveCaches {
    private final TestRecipe recipe;
    private final CacheParameters parameters;
    private final List<Integer> reads = new ArrayList<>();

    NaiveCaches(TestRecipe recipe, CacheParameters parameters) {
        this.recipe = recipe;
        this.parameters = parameters;
    }

    private long windowBytes() {
        return (long) parameters.windowContainers() * parameters.containerBytes();
    }

    List<Integer> lru() {
        return wholeContainers(parameters.memoryBytes(), (cached, current) -> cached.get(0), (victim, current) -> {});
    }

    List<Integer> opt() {
        return wholeContainers(
                parameters.memoryBytes(),
                (cached, current) -> first(cached, Comparator.comparing(each -> -next(each, current, recipe.count()))),
                (victim, current) -> {});
    }

    List<Integer> lookaheadBase() {
        return wholeContainers(parameters.memoryBytes(), this::fewestReferences, (victim, current) -> {});
    }

    List<Integer> lookaheadLog() {
        long logBytes = (long) (parameters.memoryBytes() * parameters.logShare());
        var log = new Log(logBytes);
        return wholeContainers(
                parameters.memoryBytes() - logBytes,
                this::fewestReferences,
                (victim, current) -> log.leave(victim, current),
                log);
    }

    private int fewestReferences(List<Integer> cached, int current) {
        return first(cached, Comparator.comparing(each -> references(each, current)));
    }

    /** Among equals, the one used longest ago. */
    private static int first(List<Integer> cached, Comparator<Integer> order) {
        return cached.stream().min(order).orElseThrow();
    }

    private int next(int container, int current, int end) {
        for (int i = current; i < end; i++) {
            if (recipe.container(i) == container) {
                return i;
            }
        }
        return Integer.MAX_VALUE;
    }

    private int references(int container, int current) {
        int references = 0;
        for (int i = current; i < recipe.windowEnd(current, windowBytes()); i++) {
            references += recipe.container(i) == container ? 1 : 0;
        }
        return references;
    }

    private boolean isWanted(long chunkId, int from, int end) {
        for (int i = from; i < end; i++) {
            if (recipe.chunkIds()[i] == chunkId) {
                return true;
            }
        }
        return false;
    }

    private interface Choice {
        /** @param cached in order of their last use */
        int victim(List<Integer> cached, int current);
    }

    private interface Eviction {
        void leave(int victim, int current);
    }

    private List<Integer> wholeContainers(long memoryBytes, Choice choice, Eviction eviction) {
        return wholeContainers(memoryBytes, choice, eviction, new Log(0));
    }

    private List<Integer> wholeContainers(long memoryBytes, Choice choice, Eviction eviction, Log log) {
        List<Integer> cached = new ArrayList<>();
        for (int current = 0; current < recipe.count(); current++) {
            Integer container = recipe.container(current);
            if (!cached.contains(container) && !log.lengths.containsKey(recipe.chunkIds()[current])) {
                reads.add(container);
                while (!cached.isEmpty()
                        && recipe.bytesOf(container) <= memoryBytes
                        && bytes(cached) + recipe.bytesOf(container) > memoryBytes) {
                    Integer victim = choice.victim(cached, current);
                    cached.remove(victim);
                    eviction.leave(victim, current);
                }
                if (recipe.bytesOf(container) <= memoryBytes) {
                    cached.add(container);
                }
            }
            if (cached.remove(container)) {
                cached.add(container);
            }
        }
        return reads;
    }

    private long bytes(List<Integer> cached) {
        return cached.stream().mapToLong(recipe::bytesOf).sum();
    }

    /** The log buffer. */
    private final class Log {
        private final long capacity;
        private final Deque<Long> queue = new ArrayDeque<>();
        private final Map<Long, Integer> lengths = new HashMap<>();

        Log(long capacity) {
            this.capacity = capacity;
        }

        void leave(int victim, int current) {
            int chunks = recipe.lengths()[victim].length;
            if (references(victim, current) > parameters.hotThreshold() * chunks) {
                return;
            }
            int end = recipe.windowEnd(current, windowBytes());
            for (int slot = 0; slot < chunks; slot++) {
                long chunkId = ChunkId.of(victim, slot);
                if (isWanted(chunkId, current, end) && !lengths.containsKey(chunkId)) {
                    add(chunkId);
                }
            }
        }

        private void add(long chunkId) {
            int length = recipe.bytes(chunkId);
            while (!queue.isEmpty() && bytes() + length > capacity) {
                lengths.remove(queue.remove());
            }
            if (length <= capacity) {
                queue.add(chunkId);
                lengths.put(chunkId, length);
            }
        }

        private long bytes() {
            return lengths.values().stream().mapToLong(Integer::longValue).sum();
        }
    }
}
