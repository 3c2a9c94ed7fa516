package org.opendedup.sar.sim.sar;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;
import org.opendedup.sar.sim.block.BlockInts;
import org.opendedup.sar.sim.block.BlockRequest;

/**
 * The tables of a deduplicating system: the chunk of each block, the place of each chunk, and its references (SAR paper
 * §2.2, Fig. 2: the index keeps the address of the first copy). A chunk's place is where it was written first; if a
 * chunk that is still referenced is there, the new one gets a spare place. An unreferenced chunk stays on its block
 * until new data is written to the block. A block that is read before it was written had its content before the trace
 * began.
 *
 * <p>Memory grows with distinct blocks and contents: about 90 bytes each. For one thread.
 */
final class DedupMap {
    /** The chunk of a block of zeros: it has no place and needs no transfer. */
    static final int ZERO_CHUNK = 0;

    /** Selects which references count. */
    enum Counting {
        /** All references there ever were, as in the SAR paper's evaluation (§4.2). */
        EVER,
        /** The present references, as the volume counts. */
        NOW
    }

    private final Counting counting;
    private final LongIntHashMap chunkOfContent = new LongIntHashMap();
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

    /** Notes a read of a block; returns the chunk that it holds. */
    int read(long block, long content) {
        int held = chunkOfBlock.get(block);
        return holds(held, content) ? held : replace(block, held, content);
    }

    /**
     * Notes a write of a block; returns the chunk that it now holds. {@link #wasNew} says whether it must be stored.
     */
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
        int chunk = chunkOfContent.getOrDefault(content, BlockInts.ABSENT);
        wasNew = chunk == BlockInts.ABSENT;
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

    /** Returns whether the last block written had to be stored. */
    boolean wasNew() {
        return wasNew;
    }

    /** Returns and resets the place that the last write or read reused from an unreferenced chunk; -1 if none. */
    long takeOverwritten() {
        long place = overwritten;
        overwritten = -1;
        return place;
    }

    /** Returns the place of a chunk, in blocks; see {@link DiskPlaces}. */
    long place(int chunk) {
        return chunks.place(chunk);
    }

    /** Returns the references to the chunk at a place; 0 if there is none. */
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

    /** Returns the heap bytes of the simulation's own tables. */
    long heapBytes() {
        return chunkOfContent.ramBytesAllocated()
                + chunkOfBlock.heapBytes()
                + chunkAtPlace.heapBytes()
                + chunks.heapBytes();
    }

    /** The data of each chunk, adjacent in memory because it is used together. */
    private static final class Chunks {
        /** Fields of a chunk: content, place, and references ever and now. */
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

        /** Assigns another content, without references. */
        void renew(int chunk, long content) {
            fields[FIELDS * chunk] = content;
            fields[FIELDS * chunk + 2] = 0;
        }

        /** Adds a block that holds the chunk. */
        void refer(int chunk) {
            fields[FIELDS * chunk + 2] += ONE_EVER + 1;
        }

        /** Notes that a block that holds the chunk was written with the same content again. */
        void noteWritten(int chunk) {
            fields[FIELDS * chunk + 2] += ONE_EVER;
        }

        /** Removes a block that held the chunk. */
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
