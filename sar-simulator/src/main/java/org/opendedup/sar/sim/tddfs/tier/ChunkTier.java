package org.opendedup.sar.sim.tddfs.tier;

import com.carrotsearch.hppc.IntArrayList;
import java.util.function.IntConsumer;

/**
 * The chunks of one tier: which contents it has, once each, and how many entries of recipes refer to each (TDDFS paper,
 * section 3.3, Table 1: a reference count for each tier). A content without references stays as garbage until
 * {@link #collect}, and can be referenced again. For one thread.
 */
public final class ChunkTier {
    private static final int ABSENT = 0;

    private final Contents contents;
    private final IntColumn counts = new IntColumn();
    /** Position of a content in the order in which the tier was written, from 1; {@link #ABSENT} if it is not there. */
    private final IntColumn places = new IntColumn();

    private final IntArrayList garbage = new IntArrayList();
    private int lastPlace;
    private long bytes;
    private long garbageBytes;

    public ChunkTier(Contents contents) {
        this.contents = contents;
    }

    /** Adds a reference, and the content if it is not there. Returns whether it was not. */
    public boolean reference(int content) {
        int count = counts.get(content);
        counts.set(content, count + 1);
        if (!isPresent(content)) {
            put(content);
            return true;
        }
        if (count == 0) {
            garbageBytes -= contents.length(content);
        }
        return false;
    }

    /** Removes a reference. The content becomes garbage with its last one. */
    public void release(int content) {
        int count = counts.get(content) - 1;
        if (count < 0) {
            throw new IllegalStateException("content " + content + " is released more often than referenced");
        }
        counts.set(content, count);
        if (count == 0) {
            garbageBytes += contents.length(content);
            garbage.add(content);
        }
    }

    /** Removes the only reference and at once the content: its space was written over. */
    public void overwrite(int content) {
        if (counts.get(content) != 1) {
            throw new IllegalStateException("content " + content + " has " + counts.get(content) + " references");
        }
        counts.set(content, 0);
        drop(content);
    }

    /** Adds a content without a reference: a copy that a cache manages. */
    public void put(int content) {
        if (isPresent(content)) {
            throw new IllegalStateException("content " + content + " is there already");
        }
        places.set(content, ++lastPlace);
        bytes += contents.length(content);
    }

    /** Removes a content that a cache manages. */
    public void drop(int content) {
        if (!isPresent(content)) {
            throw new IllegalStateException("content " + content + " is not there");
        }
        places.set(content, ABSENT);
        bytes -= contents.length(content);
    }

    /**
     * Removes all garbage.
     *
     * @param removed told of each content that was removed
     */
    public void collect(IntConsumer removed) {
        for (int i = 0; i < garbage.size(); i++) {
            int content = garbage.get(i);
            // It may have been referenced again, and it may be listed twice.
            if (counts.get(content) == 0 && isPresent(content)) {
                garbageBytes -= contents.length(content);
                drop(content);
                removed.accept(content);
            }
        }
        garbage.elementsCount = 0;
    }

    public boolean isPresent(int content) {
        return places.get(content) != ABSENT;
    }

    /** Returns the number of references. */
    public int count(int content) {
        return counts.get(content);
    }

    /** Returns the position of a content in the order of writing, from 1; 0 if it is not there. */
    public int place(int content) {
        return places.get(content);
    }

    /** Returns the bytes of the contents that are there, garbage included. */
    public long bytes() {
        return bytes;
    }

    /** Returns the bytes of the contents that are there without a reference and that a collection would remove. */
    public long garbageBytes() {
        return garbageBytes;
    }
}
