package org.opendedup.sar.sim.sar;

import java.util.Arrays;
import org.opendedup.sar.sim.block.BlockInts;
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

    /** Which references count. */
    enum Counting {
        /** All there ever were, as in the SAR paper's evaluation (§4.2). */
        EVER,
        /** Those that there are, as the volume counts. */
        NOW
    }

    private final Counting counting;
    private final LongIntMap chunkOfContent = new LongIntMap();
    private final BlockInts chunkOfBlock = new BlockInts();
    private final BlockInts chunkAtPlace = new BlockInts();
    private final Chunks chunks = new Chunks();
    private long nextSpare = DiskPlaces.FIRST_SPARE;
    private boolean wasNew;
    private long overwritten = -1;

    DedupMap(Counting counting) {
        this.counting = counting;
        chunkOfContent.put(BlockRequest.ZERO_CONTENT, chunks.add(BlockRequest.ZERO_CONTENT, -1));
    }

    /** A block is read; returns the chunk that it holds. */
    int read(long block, long content) {
        int held = chunkOfBlock.get(block);
        return holds(held, content) ? held : replace(block, held, content);
    }

    /** A block is written; returns the chunk that it holds now. {@link #wasNew} says whether it must be stored. */
    int write(long block, long content) {
        int held = chunkOfBlock.get(block);
        if (holds(held, content)) {
            wasNew = false;
            chunks.noteWritten(held);
            return held;
        }
        return replace(block, held, content);
    }

    private boolean holds(int chunk, long content) {
        return chunk != BlockInts.ABSENT && chunks.content(chunk) == content;
    }

    private int replace(long block, int held, long content) {
        int chunk = chunkOfContent.get(content);
        wasNew = chunk == LongIntMap.ABSENT;
        if (held != BlockInts.ABSENT) {
            chunks.drop(held);
        }
        if (wasNew) {
            chunk = store(block, content);
        }
        chunks.refer(chunk);
        chunkOfBlock.put(block, chunk);
        return chunk;
    }

    private int store(long block, long content) {
        int occupant = chunkAtPlace.get(block);
        if (occupant == BlockInts.ABSENT) {
            return add(content, block);
        }
        if (chunks.references(occupant) > 0) {
            return add(content, nextSpare++);
        }
        overwritten = chunks.place(occupant);
        chunkOfContent.remove(chunks.content(occupant));
        chunks.renew(occupant, content);
        chunkOfContent.put(content, occupant);
        return occupant;
    }

    private int add(long content, long place) {
        int chunk = chunks.add(content, place);
        chunkOfContent.put(content, chunk);
        chunkAtPlace.put(place, chunk);
        return chunk;
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
        return chunks.place(chunk);
    }

    /** References to the chunk at a place; 0 if there is none. */
    int referencesAt(long place) {
        int chunk = chunkAtPlace.get(place);
        return chunk == BlockInts.ABSENT ? 0 : references(chunk);
    }

    int references(int chunk) {
        return switch (counting) {
            case EVER -> chunks.referencesEver(chunk);
            case NOW -> chunks.references(chunk);
        };
    }

    /** Heap bytes of the simulation's own tables. */
    long heapBytes() {
        return chunkOfContent.heapBytes() + chunkOfBlock.heapBytes() + chunkAtPlace.heapBytes() + chunks.heapBytes();
    }

    /** What is known of each chunk, side by side in memory, since it is wanted together. */
    private static final class Chunks {
        /** Content, place, references ever and now. */
        private static final int FIELDS = 3;

        private static final long ONE_EVER = 1L << Integer.SIZE;

        private long[] fields = new long[FIELDS * 1024];
        private int count;

        int add(long content, long place) {
            int at = FIELDS * count;
            if (at == fields.length) {
                fields = Arrays.copyOf(fields, Math.multiplyExact(2, at));
            }
            fields[at] = content;
            fields[at + 1] = place;
            return count++;
        }

        /** Another content, without references yet. */
        void renew(int chunk, long content) {
            fields[FIELDS * chunk] = content;
            fields[FIELDS * chunk + 2] = 0;
        }

        /** One more block holds it. */
        void refer(int chunk) {
            fields[FIELDS * chunk + 2] += ONE_EVER + 1;
        }

        /** A block that holds it was written with the same again. */
        void noteWritten(int chunk) {
            fields[FIELDS * chunk + 2] += ONE_EVER;
        }

        /** A block does not hold it any more. */
        void drop(int chunk) {
            fields[FIELDS * chunk + 2]--;
        }

        long content(int chunk) {
            return fields[FIELDS * chunk];
        }

        long place(int chunk) {
            return fields[FIELDS * chunk + 1];
        }

        int references(int chunk) {
            return (int) fields[FIELDS * chunk + 2];
        }

        int referencesEver(int chunk) {
            return (int) (fields[FIELDS * chunk + 2] >>> Integer.SIZE);
        }

        long heapBytes() {
            return (long) Long.BYTES * fields.length;
        }
    }
}
