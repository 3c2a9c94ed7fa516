package org.opendedup.sar.index.chunkstash;

import java.util.Arrays;

/**
 * The covered containers, and where the records with their frame tables are in the log. Sorted arrays: containers are
 * mostly covered in ascending order. 20 bytes a container. Not thread-safe.
 */
final class CoverTable {
    private long[] containers = new long[16];
    private long[] places = new long[16];
    private int[] lengths = new int[16];
    private int count;

    int count() {
        return count;
    }

    /** Returns the number of a container in ascending order, or a negative number if it is not covered. */
    int find(long container) {
        return Arrays.binarySearch(containers, 0, count, container);
    }

    long container(int number) {
        return containers[number];
    }

    long place(int number) {
        return places[number];
    }

    int length(int number) {
        return lengths[number];
    }

    void put(long container, long place, int length) {
        int at = find(container);
        if (at < 0) {
            at = -at - 1;
            if (count == containers.length) {
                containers = Arrays.copyOf(containers, 2 * count);
                places = Arrays.copyOf(places, 2 * count);
                lengths = Arrays.copyOf(lengths, 2 * count);
            }
            move(at, at + 1);
            count++;
            containers[at] = container;
        }
        places[at] = place;
        lengths[at] = length;
    }

    void remove(int number) {
        move(number + 1, number);
        count--;
    }

    private void move(int from, int to) {
        System.arraycopy(containers, from, containers, to, count - from);
        System.arraycopy(places, from, places, to, count - from);
        System.arraycopy(lengths, from, lengths, to, count - from);
    }

    long[] containers() {
        return Arrays.copyOf(containers, count);
    }
}
