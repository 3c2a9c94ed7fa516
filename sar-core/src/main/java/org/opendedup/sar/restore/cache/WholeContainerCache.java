package org.opendedup.sar.restore.cache;

import org.opendedup.sar.common.ChunkId;

/**
 * Keeps whole containers: all chunks that were read of a container stay and leave together. A container that is read in
 * parts grows. A container larger than the memory is not kept. The {@link VictimRule} chooses which container is
 * evicted.
 */
class WholeContainerCache implements ContainerCache {
    private final CachedContainers cached;
    private final VictimRule rule;
    private final long memoryBytes;
    private final ChunkHolder holder;
    /** The references that were passed and not used yet. */
    private final LongQueue window = new LongQueue();

    private long highWaterBytes;

    WholeContainerCache(CachedContainers cached, VictimRule rule, long memoryBytes, ChunkHolder holder) {
        this.cached = cached;
        this.rule = rule;
        this.memoryBytes = memoryBytes;
        this.holder = holder;
    }

    @Override
    public final long windowBytes() {
        return rule.windowBytes();
    }

    @Override
    public void ahead(long chunkId, int bytes) {
        window.add(chunkId);
        rule.entered(chunkId);
    }

    @Override
    public boolean contains(long chunkId) {
        return holds(chunkId);
    }

    /** Always true for a chunk that is not in memory: every chunk that is read is kept with its container. */
    @Override
    public final boolean wants(long chunkId) {
        return !contains(chunkId);
    }

    @Override
    public final boolean takesWholeContainers() {
        return true;
    }

    /** Whether a chunk is in memory with its container. */
    final boolean holds(long chunkId) {
        int place = cached.find(ChunkId.container(chunkId));
        return place != CachedContainers.NONE && cached.contains(place, ChunkId.slot(chunkId));
    }

    @Override
    public final void read(long container, ContainerContents contents) {
        long newBytes = newBytes(cached.find(container), contents);
        if (newBytes > memoryBytes) {
            return;
        }
        while (cached.weightBytes() + newBytes > memoryBytes) {
            evict(rule.victim());
        }
        // The victim may have been the container itself, of which another part was in memory.
        int place = cached.find(container);
        if (place == CachedContainers.NONE) {
            place = cached.add(container, contents.slotsInContainer(), contents.chunksInContainer());
            rule.added(place);
        }
        keep(place, contents);
        highWaterBytes = Math.max(highWaterBytes, weightBytes());
    }

    private long newBytes(int place, ContainerContents contents) {
        long bytes = 0;
        for (int i = 0; i < contents.count(); i++) {
            boolean held = place != CachedContainers.NONE && cached.contains(place, contents.slot(i));
            bytes += held ? 0 : contents.bytes(i);
        }
        return bytes;
    }

    private void keep(int place, ContainerContents contents) {
        for (int i = 0; i < contents.count(); i++) {
            int slot = contents.slot(i);
            if (!cached.contains(place, slot)) {
                long chunkId = ChunkId.of(cached.container(place), slot);
                boolean known = contains(chunkId);
                cached.addChunk(place, slot, contents.bytes(i));
                if (!known) {
                    holder.keep(chunkId);
                }
            }
        }
    }

    /** Removes a container from memory. */
    void evict(int place) {
        long container = cached.container(place);
        cached.remove(place);
        for (int slot = 0; slot < cached.slots(place); slot++) {
            long chunkId = ChunkId.of(container, slot);
            if (cached.contains(place, slot) && !contains(chunkId)) {
                holder.drop(chunkId);
            }
        }
    }

    @Override
    public void advance() {
        long chunkId = window.remove();
        rule.left(chunkId);
        int place = cached.find(ChunkId.container(chunkId));
        if (place != CachedContainers.NONE) {
            cached.touch(place);
        }
    }

    @Override
    public long weightBytes() {
        return cached.weightBytes();
    }

    @Override
    public final long highWaterBytes() {
        return highWaterBytes;
    }

    @Override
    public long tableBytes() {
        return window.heapBytes() + cached.heapBytes() + rule.tableBytes();
    }
}
