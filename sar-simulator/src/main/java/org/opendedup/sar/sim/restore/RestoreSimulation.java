package org.opendedup.sar.sim.restore;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.cache.ContainerContents;

/** Restores one recipe through one cache, which is empty at first: a missing chunk's container is read as a whole. */
public final class RestoreSimulation implements ContainerContents {
    private final PackedContainers containers;
    private final Recipe recipe;
    private final ContainerCache cache;
    /** The container being read. */
    private long container;

    private int reads;
    private long bytesRead;
    /** Index of the next reference that the cache is informed of. */
    private int head;
    /** Bytes of the references after the current one that the cache has been informed of. */
    private long aheadBytes;

    private RestoreSimulation(Recipe recipe, PackedContainers containers, ContainerCache cache) {
        this.recipe = recipe;
        this.containers = containers;
        this.cache = cache;
    }

    /** Runs a restore and returns its cost. */
    public static RestoreCost run(Recipe recipe, PackedContainers containers, ContainerCache cache) {
        return new RestoreSimulation(recipe, containers, cache).run();
    }

    private RestoreCost run() {
        long windowBytes = cache.windowBytes();
        for (int current = 0; current < recipe.count(); current++) {
            feed(current, windowBytes);
            long chunkId = recipe.chunkId(current);
            if (!cache.contains(chunkId)) {
                read(ChunkId.container(chunkId));
            }
            cache.advance();
        }
        return new RestoreCost(reads, bytesRead, cache.highWaterBytes(), cache.tableBytes());
    }

    private void feed(int current, long windowBytes) {
        if (head > current) {
            // The cache was informed of it earlier, as a future reference.
            aheadBytes -= containers.bytes(recipe.chunkId(current));
        } else {
            feedNext();
        }
        while (aheadBytes < windowBytes && head < recipe.count()) {
            aheadBytes += feedNext();
        }
    }

    private int feedNext() {
        long chunkId = recipe.chunkId(head++);
        int bytes = containers.bytes(chunkId);
        cache.ahead(chunkId, bytes);
        return bytes;
    }

    private void read(long missing) {
        container = missing;
        reads++;
        bytesRead += containers.bytesOf(missing);
        cache.read(missing, this);
    }

    @Override
    public int chunksInContainer() {
        return containers.chunksOf(container);
    }

    @Override
    public int count() {
        return containers.chunksOf(container);
    }

    @Override
    public int slot(int index) {
        return index;
    }

    @Override
    public int bytes(int index) {
        return containers.bytes(ChunkId.of(container, index));
    }
}
