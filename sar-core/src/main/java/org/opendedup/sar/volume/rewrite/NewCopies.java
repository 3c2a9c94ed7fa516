package org.opendedup.sar.volume.rewrite;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongLongHashMap;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * Which chunks have another copy that recipes are to refer to instead. Memory: 8 MiB when it is full. For one thread.
 */
public final class NewCopies {
    /** Most chunks for which references are replaced in one pass over all recipes: 1.6 GB with chunks of 8 KiB. */
    public static final int MAX_CHUNKS = 200_000;

    private final LongLongHashMap copies = new LongLongHashMap(MAX_CHUNKS);
    /** Containers of the old copies. Most pages of most recipes name none of them. */
    private final LongHashSet containers = new LongHashSet();

    public void add(long old, long copy) {
        copies.put(old, copy);
        containers.add(ChunkId.container(old));
    }

    public int count() {
        return copies.size();
    }

    public boolean isFull() {
        return copies.size() >= MAX_CHUNKS;
    }

    /** Returns the copy that replaces a chunk; {@link ChunkId#NONE} if it stays. */
    public long copyOf(long chunkId) {
        return copies.getOrDefault(chunkId, ChunkId.NONE);
    }

    /** Returns whether a page refers to a chunk that is to be replaced. */
    boolean concern(RecipePage page) {
        long last = 0;
        boolean isOld = false;
        for (int entry = 0; entry < page.count(); entry++) {
            long container = ChunkId.container(page.chunkId(entry));
            if (container != last) {
                last = container;
                isOld = containers.contains(container);
            }
            if (isOld && copies.containsKey(page.chunkId(entry))) {
                return true;
            }
        }
        return false;
    }

    /** Forgets the copies, once references to the old ones are replaced. */
    public void clear() {
        copies.clear();
        containers.clear();
    }
}
