package org.opendedup.sar.restore.cache;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;

/**
 * The containers in memory, each with the slots that were read of it, in order of their last use. A container has a
 * <em>place</em>, a small number that it keeps while it is in memory.
 */
final class CachedContainers {
    static final int NONE = -1;

    private static final int INITIAL = 8;
    private static final int[] NO_SLOTS = new int[0];

    private final LongIntHashMap places = new LongIntHashMap();
    private long[] containers = new long[INITIAL];
    private long[] bytes = new long[INITIAL];
    private int[] chunks = new int[INITIAL];
    /** By place, a number that is more than any slot. */
    private int[] ends = new int[INITIAL];
    /** By place and slot, the length of the chunk in memory in bytes, else 0. */
    private int[][] lengths = new int[INITIAL][0];

    // The order of use, as a linked list of places. For a free place, newer is the next free place.
    private int[] older = new int[INITIAL];
    private int[] newer = new int[INITIAL];
    private int newest = NONE;
    private int oldest = NONE;
    private int freePlace = NONE;
    private int usedPlaces;
    private long weightBytes;

    /** Returns the place of a container, or {@link #NONE}. */
    int find(long container) {
        return places.getOrDefault(container, NONE);
    }

    boolean contains(int place, int slot) {
        return length(place, slot) > 0;
    }

    /** Adds a container that is not in memory, as most recently used and without chunks; returns its place. */
    int add(long container, int slots, int chunksInContainer) {
        int place = newPlace();
        containers[place] = container;
        chunks[place] = chunksInContainer;
        ends[place] = slots;
        bytes[place] = 0;
        if (lengths[place].length < slots) {
            lengths[place] = new int[slots];
        } else {
            Arrays.fill(lengths[place], 0);
        }
        places.put(container, place);
        link(place);
        return place;
    }

    void addChunk(int place, int slot, int length) {
        if (slot >= ends[place]) {
            // A container that is being written has more chunks now than when it was added.
            int capacity = lengths[place].length;
            if (slot >= capacity) {
                lengths[place] = Arrays.copyOf(lengths[place], Math.max(slot + 1, 2 * capacity));
            }
            chunks[place] += slot + 1 - ends[place];
            ends[place] = slot + 1;
        }
        lengths[place][slot] = length;
        bytes[place] += length;
        weightBytes += length;
    }

    /** Removes a container from memory. Its chunks can still be queried until another container is added. */
    void remove(int place) {
        weightBytes -= bytes[place];
        places.remove(containers[place]);
        unlink(place);
        newer[place] = freePlace;
        freePlace = place;
    }

    /** Makes a container the most recently used. */
    void touch(int place) {
        if (place != newest) {
            unlink(place);
            link(place);
        }
    }

    /** Returns the place of the least recently used container, or {@link #NONE}. */
    int oldest() {
        return oldest;
    }

    /** Returns the next place in order of use, or {@link #NONE} after the most recently used. */
    int newer(int place) {
        return newer[place];
    }

    long container(int place) {
        return containers[place];
    }

    int chunksInContainer(int place) {
        return chunks[place];
    }

    /** Returns a number that is more than any slot of the container. */
    int slots(int place) {
        return ends[place];
    }

    /** Returns the length of a chunk in memory, in bytes, else 0. */
    int length(int place, int slot) {
        return slot < ends[place] ? lengths[place][slot] : 0;
    }

    long weightBytes() {
        return weightBytes;
    }

    /** Returns the capacity for places: every place is below it. It only grows. */
    int placeCapacity() {
        return containers.length;
    }

    long heapBytes() {
        long slots = 0;
        for (int[] each : lengths) {
            slots += each.length;
        }
        return places.ramBytesAllocated()
                + slots * Integer.BYTES
                + (long) containers.length * (2 * Long.BYTES + 3 * Integer.BYTES);
    }

    private int newPlace() {
        if (freePlace != NONE) {
            int place = freePlace;
            freePlace = newer[place];
            return place;
        }
        if (usedPlaces == containers.length) {
            grow();
        }
        return usedPlaces++;
    }

    private void link(int place) {
        older[place] = newest;
        newer[place] = NONE;
        if (newest == NONE) {
            oldest = place;
        } else {
            newer[newest] = place;
        }
        newest = place;
    }

    private void unlink(int place) {
        if (older[place] == NONE) {
            oldest = newer[place];
        } else {
            newer[older[place]] = newer[place];
        }
        if (newer[place] == NONE) {
            newest = older[place];
        } else {
            older[newer[place]] = older[place];
        }
    }

    private void grow() {
        int length = containers.length * 2;
        containers = Arrays.copyOf(containers, length);
        bytes = Arrays.copyOf(bytes, length);
        chunks = Arrays.copyOf(chunks, length);
        ends = Arrays.copyOf(ends, length);
        older = Arrays.copyOf(older, length);
        newer = Arrays.copyOf(newer, length);
        int from = lengths.length;
        lengths = Arrays.copyOf(lengths, length);
        Arrays.fill(lengths, from, length, NO_SLOTS);
    }
}
