package org.opendedup.sar.restore.cache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.ChunkId;

/** A simple implementation of {@link WantedChunksCache}: every decision examines the whole recipe again. */
final class NaiveWantedChunks {
    private final TestRecipe recipe;
    private final long memoryBytes;
    private final long windowBytes;
    private final Set<Long> kept = new HashSet<>();
    private final Set<Integer> readAgain = new HashSet<>();
    private final List<Integer> reads = new ArrayList<>();

    NaiveWantedChunks(TestRecipe recipe, long memoryBytes, long windowBytes) {
        this.recipe = recipe;
        this.memoryBytes = memoryBytes;
        this.windowBytes = windowBytes;
    }

    /** The containers read, in order. */
    List<Integer> reads() {
        for (int current = 0; current < recipe.count(); current++) {
            int end = recipe.windowEnd(current, windowBytes);
            int container = recipe.container(current);
            if (!kept.contains(recipe.chunkIds()[current])) {
                reads.add(container);
                readAgain.remove(container);
                wanted(current, end).stream()
                        .filter(chunkId -> ChunkId.container(chunkId) == container)
                        .forEach(kept::add);
                makeRoom(current, end);
            }
            if (!kept.contains(recipe.chunkIds()[current])) {
                readAgain.remove(container);
            }
            kept.retainAll(wanted(current + 1, end));
        }
        return reads;
    }

    /** Chunks referenced between two references, in order of their first reference. */
    private List<Long> wanted(int from, int to) {
        return Arrays.stream(recipe.chunkIds(), from, Math.max(from, to))
                .distinct()
                .boxed()
                .toList();
    }

    private void makeRoom(int current, int end) {
        long excess = kept.stream().mapToLong(recipe::bytes).sum() - memoryBytes;
        while (excess > 0) {
            for (List<Long> chunks : mostGainedFirst(current, end)) {
                for (Long chunkId : chunks) {
                    if (excess > 0) {
                        kept.remove(chunkId);
                        readAgain.add((int) ChunkId.container(chunkId));
                        excess -= recipe.bytes(chunkId);
                    }
                }
            }
        }
    }

    /** The chunks that may be evicted, by container: of each its farthest chunks, the farthest first. */
    private List<List<Long>> mostGainedFirst(int current, int end) {
        List<Long> wanted = new ArrayList<>(wanted(current, end));
        Collections.reverse(wanted);
        Map<Long, List<Long>> farthestFirst = new LinkedHashMap<>();
        wanted.stream()
                .filter(kept::contains)
                .forEach(chunkId -> farthestFirst
                        .computeIfAbsent(ChunkId.container(chunkId), key -> new ArrayList<>())
                        .add(chunkId));
        List<List<Long>> best = new ArrayList<>();
        Map<List<Long>, Float> areas = new HashMap<>();
        farthestFirst.values().forEach(chunks -> {
            List<Long> choice = chunks;
            for (int count = chunks.size(); count > 0; count--) {
                List<Long> farthest = chunks.subList(0, count);
                choice = area(farthest, current) >= area(choice, current) ? farthest : choice;
            }
            best.add(choice);
            areas.put(choice, area(choice, current));
        });
        // Of equals, the one found last.
        Collections.reverse(best);
        best.sort(Comparator.comparing(chunks -> -areas.get(chunks)));
        return best;
    }

    private float area(List<Long> farthest, int current) {
        long bytes = farthest.stream().mapToLong(recipe::bytes).sum();
        long nearest = farthest.get(farthest.size() - 1);
        int distance = 0;
        while (recipe.chunkIds()[current + distance] != nearest) {
            distance++;
        }
        return (float) bytes * distance * (readAgain.contains((int) ChunkId.container(nearest)) ? 2 : 1);
    }
}
