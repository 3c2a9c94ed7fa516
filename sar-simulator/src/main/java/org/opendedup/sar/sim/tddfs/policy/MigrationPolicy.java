package org.opendedup.sar.sim.tddfs.policy;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Decides when files leave the fast tier, and which (TDDFS paper, section 3.2). When more than a threshold is in use,
 * the least recently used files leave until no more than another threshold is. Small files stay while all of them
 * together have at most a share of the tier, because moving them saves little.
 *
 * <p>It knows sizes and the order of use, not how files are stored or moved. For one thread.
 */
public final class MigrationPolicy {
    private final Limits limits;
    /** In the order of use, the least recent first; so are the small ones. */
    private final Map<Integer, Entry> large = new LinkedHashMap<>();

    private final Map<Integer, Entry> small = new LinkedHashMap<>();
    private long smallBytes;
    private long uses;

    /**
     * Thresholds, in bytes.
     *
     * @param startBytes files leave when more than this is in use
     * @param stopBytes until this or less is in use; at most {@code startBytes}
     * @param smallFileBytes files of up to this size are small; below 0 there are none
     * @param smallFilesBytes small files stay while all of them together have at most this
     */
    public record Limits(long startBytes, long stopBytes, long smallFileBytes, long smallFilesBytes) {
        public Limits {
            if (stopBytes < 0 || startBytes < stopBytes) {
                throw new IllegalArgumentException(
                        "files leave from " + startBytes + " down to " + stopBytes + " bytes");
            }
        }
    }

    private record Entry(long bytes, long use) {}

    public MigrationPolicy(Limits limits) {
        this.limits = limits;
    }

    /** Notes that a file of that size is on the fast tier, and that it was just used. */
    public void used(int file, long bytes) {
        remove(file);
        boolean isSmall = bytes <= limits.smallFileBytes();
        (isSmall ? small : large).put(file, new Entry(bytes, uses++));
        smallBytes += isSmall ? bytes : 0;
    }

    /** Notes that a file is no longer on the fast tier. Without effect for a file that is not there. */
    public void remove(int file) {
        large.remove(file);
        Entry removed = small.remove(file);
        smallBytes -= removed == null ? 0 : removed.bytes();
    }

    /** Returns whether files must leave, if so many bytes are in use. */
    public boolean mustStart(long usedBytes) {
        return usedBytes > limits.startBytes();
    }

    /** Returns whether enough files have left, if so many bytes are in use. */
    public boolean mayStop(long usedBytes) {
        return usedBytes <= limits.stopBytes();
    }

    /**
     * Returns the file to leave next; none if no other file may leave.
     *
     * @param inUse a file that stays because a request is using it
     */
    public OptionalInt next(int inUse) {
        Map.@Nullable Entry<Integer, Entry> oldestLarge = oldest(large, inUse);
        Map.@Nullable Entry<Integer, Entry> oldestSmall =
                smallBytes > limits.smallFilesBytes() ? oldest(small, inUse) : null;
        if (oldestLarge == null) {
            return oldestSmall == null ? OptionalInt.empty() : OptionalInt.of(oldestSmall.getKey());
        }
        if (oldestSmall != null
                && oldestSmall.getValue().use() < oldestLarge.getValue().use()) {
            return OptionalInt.of(oldestSmall.getKey());
        }
        return OptionalInt.of(oldestLarge.getKey());
    }

    private static Map.@Nullable Entry<Integer, Entry> oldest(Map<Integer, Entry> files, int inUse) {
        Iterator<Map.Entry<Integer, Entry>> order = files.entrySet().iterator();
        Map.@Nullable Entry<Integer, Entry> first = order.hasNext() ? order.next() : null;
        if (first != null && first.getKey() == inUse) {
            return order.hasNext() ? order.next() : null;
        }
        return first;
    }
}
