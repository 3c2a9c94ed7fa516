package org.opendedup.sar.volume.chunks;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Visits the chunks that were stored when it began, container by container. Chunks that are collected meanwhile may be
 * left out. Safe for use by many threads.
 */
public final class ChunkWalk {
    private static final Logger log = LoggerFactory.getLogger(ChunkWalk.class);

    /** Container ids read at a time. */
    private static final int BATCH = 1024;

    private final ChunkEngine engine;
    private final Deque<Long> containers = new ArrayDeque<>();
    private final Deque<StoredChunk> chunks = new ArrayDeque<>();
    private long nextContainer;
    private boolean isEnd;

    ChunkWalk(ChunkEngine engine) {
        this.engine = engine;
    }

    /** Returns the next chunk; null after the last one. A container that cannot be read is logged and left out. */
    public synchronized @Nullable StoredChunk next() throws IOException {
        while (chunks.isEmpty()) {
            if (containers.isEmpty() && !readContainers()) {
                return null;
            }
            long container = containers.remove();
            try {
                readChunks(container);
            } catch (IOException e) {
                log.warn("the chunks of container {} cannot be listed: {}", container, e.getMessage());
            }
        }
        return chunks.remove();
    }

    private boolean readContainers() throws IOException {
        if (isEnd) {
            return false;
        }
        List<Long> found = new ArrayList<>();
        engine.metadata().containers().forEachFrom(nextContainer, entry -> {
            found.add(entry.container());
            return found.size() < BATCH;
        });
        isEnd = found.size() < BATCH;
        containers.addAll(found);
        if (!found.isEmpty()) {
            nextContainer = found.get(found.size() - 1) + 1;
        }
        return !found.isEmpty();
    }

    private void readChunks(long container) throws IOException {
        if (!engine.containers().isSealed(container)) {
            // Begun after this walk.
            return;
        }
        ContainerCounts counts = engine.metadata().counts().ofContainer(container);
        SealedContainer directory = engine.containers().directory(container);
        for (int slot = 0; slot < directory.slots(); slot++) {
            if (counts.isAlive(slot) && directory.length(slot) > 0) {
                int at = slot * Fingerprints.BYTES;
                chunks.add(new StoredChunk(
                        ContentHash.ofClient(directory.fingerprints(), at),
                        ChunkId.of(container, slot),
                        directory.length(slot),
                        counts.count(slot)));
            }
        }
    }
}
