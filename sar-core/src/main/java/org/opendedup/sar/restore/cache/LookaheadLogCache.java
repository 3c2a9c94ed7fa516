package org.opendedup.sar.restore.cache;

import org.opendedup.sar.common.ChunkId;

/**
 * The lookahead paper's extended design (§3.6): part of the memory is a log buffer. A victim is cold if the window has
 * references to no more than the hot threshold's share of its chunks. The chunks of a cold victim that the window still
 * wants are copied to the log; a hot victim is dropped without logging. A chunk of the log whose container is read
 * again is in both, and counts twice.
 */
final class LookaheadLogCache extends WholeContainerCache {
    private final CachedContainers cached;
    private final ContainerReferences references;
    private final double hotThreshold;
    private final LogBuffer log;
    private final ChunkHolder holder;
    /** By chunk: which of a victim's chunks are still wanted. */
    private final LookaheadWindow wanted = new LookaheadWindow();

    /**
     * @param rule chooses the victims, and updates {@code references}
     * @param hotThreshold share of a container's chunks, 0 to 1
     */
    LookaheadLogCache(
            CachedContainers cached,
            VictimRule rule,
            ContainerReferences references,
            MemorySplit memory,
            double hotThreshold,
            ChunkHolder holder) {
        super(cached, rule, memory.containerBytes(), holder);
        this.cached = cached;
        this.references = references;
        this.hotThreshold = hotThreshold;
        this.log = new LogBuffer(memory.logBytes());
        this.holder = holder;
    }

    /** Division of the memory between whole containers and the log buffer, in bytes. */
    record MemorySplit(long containerBytes, long logBytes) {}

    @Override
    public void ahead(long chunkId, int bytes) {
        super.ahead(chunkId, bytes);
        wanted.enter(chunkId);
    }

    @Override
    public boolean contains(long chunkId) {
        return holds(chunkId) || log.contains(chunkId);
    }

    @Override
    void evict(int place) {
        if (!isHot(place)) {
            for (int slot = 0; slot < cached.slots(place); slot++) {
                long chunkId = ChunkId.of(cached.container(place), slot);
                if (cached.contains(place, slot) && isWanted(chunkId) && !log.contains(chunkId)) {
                    log(chunkId, cached.length(place, slot));
                }
            }
        }
        super.evict(place);
    }

    private boolean isWanted(long chunkId) {
        return wanted.find(chunkId) != LookaheadWindow.NONE;
    }

    private boolean isHot(int place) {
        return references.count(cached.container(place)) > hotThreshold * cached.chunksInContainer(place);
    }

    private void log(long chunkId, int bytes) {
        while (log.isFullFor(bytes)) {
            long oldest = log.removeOldest();
            if (!holds(oldest)) {
                holder.drop(oldest);
            }
        }
        log.add(chunkId, bytes);
    }

    @Override
    public void advance() {
        super.advance();
        wanted.slide();
    }

    @Override
    public long weightBytes() {
        return super.weightBytes() + log.weightBytes();
    }

    @Override
    public long tableBytes() {
        return super.tableBytes() + wanted.heapBytes() + log.heapBytes();
    }
}
