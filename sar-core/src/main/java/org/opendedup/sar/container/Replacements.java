package org.opendedup.sar.container;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The frames of one container that its next generation gets with other bytes, and the chunks for them. A chunk of such
 * a frame that is not here is lost: it is listed without its bytes. For one thread at a time.
 */
public final class Replacements {
    private final BitSet frames = new BitSet();
    private final Map<Integer, byte[]> chunks = new HashMap<>();

    /** Adds the bytes of the chunk in a slot, of which the receiver verifies the fingerprint. */
    public void put(int slot, byte[] chunk) {
        chunks.put(slot, chunk);
    }

    /** Adds a frame that is to be made from the chunks here. */
    public void addFrame(int frame) {
        frames.set(frame);
    }

    public boolean hasFrame(int frame) {
        return frames.get(frame);
    }

    /** Returns whether no frame is to be made anew. */
    public boolean isEmpty() {
        return frames.isEmpty();
    }

    /** Returns the bytes of the chunk in a slot; null if unknown. */
    public byte @Nullable [] chunk(int slot) {
        return chunks.get(slot);
    }
}
