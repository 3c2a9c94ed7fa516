package org.opendedup.sar.index.chunkstash;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a ChunkStash index: which container each is of, where it is in the log, and which of its entries count.
 * A pointer names an entry: {@code page << 10 | number}. Pages are numbered from 1, so no pointer is 0. A page keeps
 * its number when it is moved in the log. An entry is live if its fingerprint leads to it, and kept if its slot has
 * this content, also if the fingerprint leads to another copy. About 40 bytes a page, and up to 300 if entries are not
 * live.
 *
 * <p>Not thread-safe.
 */
final class PageDirectory {
    static final int ENTRY_BITS = 10;
    /** Most entries of a page (ChunkStash, section 3.1: 1024 chunks). */
    static final int PAGE_ENTRIES = 1 << ENTRY_BITS;

    static final int BITMAP_LONGS = PAGE_ENTRIES / Long.SIZE;

    /** Most pages: pointers have 40 bits. */
    static final int MOST_PAGES = 1 << 30;

    /** The place of a page that is not written yet. */
    static final long OPEN = -1;

    private long[] places = new long[16];
    private int[] lengths = new int[16];
    private short[] counts = new short[16];
    /** 0 for a number that is free. */
    private long[] containers = new long[16];

    /** For each page, the entries that are not live; null if all are. */
    private long[][] notLive = new long[16][];
    /** For each page, the entries that are not kept; null if all are. */
    private long[][] notKept = new long[16][];

    private int highest;
    private int bitmaps;
    private final Deque<Integer> free = new ArrayDeque<>();

    static long pointer(int page, int entry) {
        return (long) page << ENTRY_BITS | entry;
    }

    static int page(long pointer) {
        return (int) (pointer >>> ENTRY_BITS);
    }

    static int entry(long pointer) {
        return (int) pointer & PAGE_ENTRIES - 1;
    }

    /** Returns the number of a new page, which is open. */
    int allocate(long container) {
        Integer used = free.poll();
        int page = used == null ? highest + 1 : used;
        put(page, container, OPEN, 0, 0);
        return page;
    }

    /** Sets what is known of a page; all of its entries are live and kept. */
    void put(int page, long container, long place, int length, int count) {
        if (page >= places.length) {
            int size = Math.max(page + 1, places.length + places.length / 2);
            places = Arrays.copyOf(places, size);
            lengths = Arrays.copyOf(lengths, size);
            counts = Arrays.copyOf(counts, size);
            containers = Arrays.copyOf(containers, size);
            notLive = Arrays.copyOf(notLive, size);
            notKept = Arrays.copyOf(notKept, size);
        }
        highest = Math.max(highest, page);
        containers[page] = container;
        setBitmaps(page, null, null);
        setPlace(page, place, length, count);
    }

    void setPlace(int page, long place, int length, int count) {
        places[page] = place;
        lengths[page] = length;
        counts[page] = (short) count;
    }

    void setBitmaps(int page, long @Nullable [] dead, long @Nullable [] dropped) {
        bitmaps -= number(notLive[page]) + number(notKept[page]);
        notLive[page] = dead;
        notKept[page] = dropped;
        bitmaps += number(dead) + number(dropped);
    }

    private static int number(long @Nullable [] bitmap) {
        return bitmap == null ? 0 : 1;
    }

    /** Returns the number of bitmaps of all pages. */
    int bitmaps() {
        return bitmaps;
    }

    long @Nullable [] notLive(int page) {
        return notLive[page];
    }

    long @Nullable [] notKept(int page) {
        return notKept[page];
    }

    /** Returns the highest number of a page. */
    int highest() {
        return highest;
    }

    boolean exists(int page) {
        return page > 0 && page <= highest && containers[page] != 0;
    }

    long container(int page) {
        return containers[page];
    }

    long place(int page) {
        return places[page];
    }

    int length(int page) {
        return lengths[page];
    }

    int count(int page) {
        return counts[page];
    }

    boolean isLive(int page, int entry) {
        return !has(notLive[page], entry);
    }

    boolean isKept(int page, int entry) {
        return !has(notKept[page], entry);
    }

    /** The fingerprint of an entry leads to another copy from now on. */
    void strike(int page, int entry) {
        setBitmaps(page, with(notLive[page], entry), notKept[page]);
    }

    /** Forgets an entry. */
    void drop(int page, int entry) {
        strike(page, entry);
        setBitmaps(page, notLive[page], with(notKept[page], entry));
    }

    static boolean has(long @Nullable [] bits, int entry) {
        return bits != null && (bits[entry >>> 6] & 1L << entry) != 0;
    }

    static long[] with(long @Nullable [] bits, int entry) {
        long[] set = bits == null ? new long[BITMAP_LONGS] : bits;
        set[entry >>> 6] |= 1L << entry;
        return set;
    }

    /** Returns the number of live entries of a page that has {@code count} entries. */
    int live(int page, int count) {
        return count - bits(notLive[page]);
    }

    private static int bits(long @Nullable [] bitmap) {
        int bits = 0;
        for (long some : bitmap == null ? new long[0] : bitmap) {
            bits += Long.bitCount(some);
        }
        return bits;
    }

    /** Returns whether no entry of a page with {@code count} entries is kept. What is live is kept. */
    boolean isEmpty(int page, int count) {
        return count - bits(notKept[page]) == 0;
    }

    /** Frees the number of a page. */
    void remove(int page) {
        containers[page] = 0;
        setBitmaps(page, null, null);
        free.push(page);
    }

    /** Finds the numbers that are free, after all pages were put. */
    void findFree() {
        free.clear();
        for (int page = highest; page > 0; page--) {
            if (containers[page] == 0) {
                free.push(page);
            }
        }
    }
}
