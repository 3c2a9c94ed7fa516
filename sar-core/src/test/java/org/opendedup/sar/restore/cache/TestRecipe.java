package org.opendedup.sar.restore.cache;

import java.util.Arrays;
import java.util.Random;
import org.opendedup.sar.common.ChunkId;

/**
 * Containers and a recipe over them.
 *
 * @param lengths by container (from 1 on) and slot
 * @param chunkIds the references
 */
record TestRecipe(int[][] lengths, long[] chunkIds) {
    /** Runs of neighbouring chunks from random containers, some of them far more often than others. */
    static TestRecipe random(Random random, int containers, int references, int chunkBytes) {
        int[][] lengths = new int[containers + 1][];
        lengths[0] = new int[0];
        for (int container = 1; container <= containers; container++) {
            lengths[container] = random.ints(1 + random.nextInt(12), chunkBytes, chunkBytes + 3)
                    .toArray();
        }
        long[] chunkIds = new long[references];
        int count = 0;
        while (count < references) {
            int container = 1 + Math.min(random.nextInt(containers), random.nextInt(containers));
            int slot = random.nextInt(lengths[container].length);
            int run = 1 + random.nextInt(4);
            for (int i = 0; i < run && slot + i < lengths[container].length && count < references; i++) {
                chunkIds[count++] = ChunkId.of(container, slot + i);
            }
        }
        return new TestRecipe(lengths, chunkIds);
    }

    int count() {
        return chunkIds.length;
    }

    int bytes(long chunkId) {
        return lengths[(int) ChunkId.container(chunkId)][ChunkId.slot(chunkId)];
    }

    int container(int reference) {
        return (int) ChunkId.container(chunkIds[reference]);
    }

    int bytesOf(int container) {
        return Arrays.stream(lengths[container]).sum();
    }

    /** The reference after the last one in the window of a reference. */
    int windowEnd(int current, long windowBytes) {
        long ahead = 0;
        int end = current + 1;
        while (end < count() && ahead < windowBytes) {
            ahead += bytes(chunkIds[end++]);
        }
        return end;
    }
}
