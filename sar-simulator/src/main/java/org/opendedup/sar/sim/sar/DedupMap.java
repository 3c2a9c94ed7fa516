package org.opendedup.sar.sim.sar;

import java.util.Arrays;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.LongIntMap;

/**
 * What a deduplicating system knows of its blocks: which chunk each holds, where each chunk lies, how many references it has (SAR paper
 * §2.2, Fig. 2: the index keeps the address of the first copy). A chunk lies where it was written first; if something that is still
 * referenced lies there, it goes to a spare place. What lies on a block and is not referenced any more stays until something new is
 * written to the block. A block that is read before it was written held its content before the trace began.
 *
 * <p>Memory grows with distinct blocks and contents: about 90 bytes each. For one thread.
 */
final class DedupMap {
    /** The chunk of a block of zeros: it lies nowhere and takes no transfer. */
    static final int ZERO_CHUNK = 0;

    private static final int ARRAY_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;

    /** Which references count. */
    enum Counting {
        /** All there ever were, as in the SAR paper's evaluation (§4.2). */
        EVER,
        /** Those that there are, as the volume counts. */
        NOW
    }

    private final Counting counting;
    private final LongIntMap chunkOfContent = new LongIntMap();
    private final LongIntMap chunkOfBlock = new LongIntMap();
    private final LongIntMap chunkAtPlace = new LongIntMap();
    private long[] contents = new long[1024];
    private long[] places = new long[1024];
    private int[] references = new int[1024];
    private int[] referencesEver = new int[1024];
    private int chunks = 1;
    private long nextSpare = DiskPlaces.FIRST_SPARE;
    private boolean wasNew;
    private long overwritten = -1;

    DedupMap(Counting counting) {
        this.counting = counting;
        chunkOfContent.put(BlockRequest.ZERO_CONTENT, ZERO_CHUNK);
        places[ZERO_CHUNK] = -1;
    }

    /** A block is read; returns the chunk that it holds. */
    int read(long block, long content) {
        int held = chunkOfBlock.get(block);
        if (held != LongIntMap.ABSENT && contents[held] == content) {
            return held;
        }
        return write(block, content);
    }

    /** A block is written; returns the chunk that it holds now. {@link #wasNew} says whether it must be stored. */
    int write(long block, long content) {
        int held = chunkOfBlock.get(block);
        int chunk = chunkOfContent.get(content);
        wasNew = chunk == LongIntMap.ABSENT;
        if (!wasNew && chunk == held) {
            referencesEver[chunk]++;
            return chunk;
        }
        if (held != LongIntMap.ABSENT) {
            references[held]--;
        }
        if (wasNew) {
            chunk = store(block, content);
        }
        references[chunk]++;
        referencesEver[chunk]++;
        chunkOfBlock.put(block, chunk);
        return chunk;
    }

    private int store(long block, long content) {
        int occupant = chunkAtPlace.get(block);
        if (occupant == LongIntMap.ABSENT) {
            return add(content, block);
        }
        if (references[occupant] > 0) {
            return add(content, nextSpare++);
        }
        overwritten = places[occupant];
        chunkOfContent.remove(contents[occupant]);
        contents[occupant] = content;
        referencesEver[occupant] = 0;
        chunkOfContent.put(content, occupant);
        return occupant;
    }

    private int add(long content, long place) {
        if (chunks == contents.length) {
            contents = Arrays.copyOf(contents, 2 * chunks);
            places = Arrays.copyOf(places, 2 * chunks);
            references = Arrays.copyOf(references, 2 * chunks);
            referencesEver = Arrays.copyOf(referencesEver, 2 * chunks);
        }
        contents[chunks] = content;
        places[chunks] = place;
        chunkOfContent.put(content, chunks);
        chunkAtPlace.put(place, chunks);
        return chunks++;
    }

    /** Whether the last block written had to be stored. */
    boolean wasNew() {
        return wasNew;
    }

    /** The place that the last block written or read took from a chunk that nothing refers to; -1 if none. Asked once. */
    long takeOverwritten() {
        long place = overwritten;
        overwritten = -1;
        return place;
    }

    /** Where a chunk lies, in blocks; see {@link DiskPlaces}. */
    long place(int chunk) {
        return places[chunk];
    }

    /** References to the chunk at a place; 0 if there is none. */
    int referencesAt(long place) {
        int chunk = chunkAtPlace.get(place);
        return chunk == LongIntMap.ABSENT ? 0 : references(chunk);
    }

    int references(int chunk) {
        return switch (counting) {
            case EVER -> referencesEver[chunk];
            case NOW -> references[chunk];
        };
    }

    /** Heap bytes of the simulation's own tables. */
    long heapBytes() {
        return chunkOfContent.heapBytes()
                + chunkOfBlock.heapBytes()
                + chunkAtPlace.heapBytes()
                + (long) ARRAY_BYTES * contents.length;
    }
}
