package org.opendedup.sar.remote;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A pack in the local folder, and how much of it the store has. Guarded by itself.
 *
 * <p>It is written first, by appending; then complete; then in the store, as one object. While it is written, tails may
 * hold its begin in the store.
 */
final class StagedPack {
    private static final int MOST_DISTRUSTED = 64;
    /** Time for which a local file that cannot be read is tried again before it is given up, in nanoseconds. */
    static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(1);

    final String name;
    /** Bytes in the local file. */
    long length;
    /** Bytes that are durable there. */
    long forced;
    /** The same as the last mark that has the pack has it. */
    long marked;
    /** Bytes that tails in the store have. */
    long inTails;
    /** End of the last tail whose put was begun: one that had no answer may be in the store. */
    long tailsEnd;
    /** When the oldest bytes that the store has not were written, by {@link System#nanoTime}. */
    long missingSinceNs = System.nanoTime();
    /** CRC-32C of all bytes, as they were appended, or else as the file has them; null if neither is known. */
    @Nullable
    Integer crc32c;

    /** Whether there may be tails that this process has not put. */
    boolean mayHaveTails;

    boolean complete;
    /** Whether the store has it as an object. */
    boolean stored;
    /** Whether nothing needs it any more, so nothing of it is put. */
    boolean dropped;
    /** Whether the local file was given up, because it cannot be opened. */
    boolean lost;
    /** When reading the local file failed first; null: it can be read. */
    private @Nullable Long unreadableSinceNs;
    /** Held while a tail is put. */
    final Object puttingTails = new Object();
    /** Whether an upload of it is queued or runs. */
    boolean queued;
    /** Number of uploads that failed, and why the last one did. */
    int failures;

    @Nullable
    IOException failure;
    /** When it was last read or written, by {@link System#nanoTime}. */
    volatile long usedNs = System.nanoTime();

    /** Ranges that were found damaged in the local file, each as two offsets; they are read from the store. */
    private volatile List<long[]> distrusted = List.of();

    StagedPack(String name) {
        this.name = name;
    }

    /**
     * Returns packs, that which was used longest ago first. Reads once when each was used: readers change that
     * meanwhile, and a sort may fail if what it compares changes.
     */
    static Deque<StagedPack> byUse(Collection<StagedPack> packs) {
        Map<StagedPack, Long> used = new HashMap<>();
        packs.forEach(pack -> used.put(pack, pack.usedNs));
        Deque<StagedPack> sorted = new ArrayDeque<>();
        used.entrySet().stream().sorted(Map.Entry.comparingByValue()).forEach(each -> sorted.add(each.getKey()));
        return sorted;
    }

    /** Has a range of the local file read no more. */
    synchronized void distrust(long from, long end) {
        if (distrusted.stream().anyMatch(range -> range[0] <= from && end <= range[1])) {
            return;
        }
        List<long[]> more = new ArrayList<>(distrusted);
        more.add(new long[] {from, end});
        // A file with so much damage is of no use.
        distrusted = more.size() > MOST_DISTRUSTED ? List.of(new long[] {0, Long.MAX_VALUE}) : List.copyOf(more);
    }

    boolean isDistrusted(long from, long end) {
        for (long[] range : distrusted) {
            if (from < range[1] && range[0] < end) {
                return true;
            }
        }
        return false;
    }

    /** Notes that the local file cannot be read. Returns whether that has lasted so long that it is given up. */
    synchronized boolean isGivenUp(long nowNs) {
        if (unreadableSinceNs == null) {
            unreadableSinceNs = nowNs;
        }
        return nowNs - unreadableSinceNs >= PATIENCE_NS;
    }

    /** Notes that the local file can be read. */
    synchronized void noteReadable() {
        unreadableSinceNs = null;
    }

    /** Returns whether the store has the first {@code bytes} of it. */
    synchronized boolean has(long bytes) {
        return stored || inTails >= bytes;
    }

    synchronized boolean isDropped() {
        return dropped;
    }

    /** Returns whether it is complete, and not in the store yet. */
    synchronized boolean isWaiting() {
        return complete && !stored && !dropped;
    }

    /** Returns the bytes that the store has not yet. */
    synchronized long missing() {
        return stored || dropped ? 0 : length - inTails;
    }
}
