package org.opendedup.sar.metadata.repair;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Keys;

/**
 * What a damaged database has lost: ranges of keys in which there may have been records, and sentences about it. Memory
 * is bounded: of more than {@value #MOST_RANGES} ranges of a family, neighbours become one.
 */
public final class LostRecords {
    static final int MOST_RANGES = 50_000;

    /**
     * A range of keys.
     *
     * @param after last record before it that could be read; empty if none could
     * @param before first record behind it that could be read; {@link Keys#END} if none could
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Range(byte[] after, byte[] before) {
        boolean contains(byte[] key) {
            return Arrays.compareUnsigned(after, key) < 0 && Arrays.compareUnsigned(key, before) < 0;
        }

        /** Returns the lowest number that a key of the range may begin with. */
        long first() {
            return after.length < Keys.LONG_BYTES ? 0 : Keys.longAt(after, 0);
        }

        /** Returns the highest number that a key of the range may begin with. */
        long last() {
            return before.length < Keys.LONG_BYTES ? Long.MAX_VALUE : Keys.longAt(before, 0);
        }
    }

    /** By {@link Range#after}; no two ranges have a key in common. */
    private final Map<Family, NavigableMap<byte[], Range>> ranges = new EnumMap<>(Family.class);

    private final Sentences sentences = new Sentences();
    private long missingChanges;
    private long remadeCounts;
    private long container;

    void add(Family family, byte[] after, byte[] before) {
        NavigableMap<byte[], Range> all =
                ranges.computeIfAbsent(family, none -> new TreeMap<>((Comparator<byte[]>) Arrays::compareUnsigned));
        byte[] first = after;
        byte[] end = before;
        Map.Entry<byte[], Range> at = all.lowerEntry(before);
        while (at != null && (all.size() >= MOST_RANGES || Arrays.compareUnsigned(at.getValue().before, after) > 0)) {
            Range merged = Objects.requireNonNull(all.remove(at.getKey()));
            first = Arrays.compareUnsigned(merged.after, first) < 0 ? merged.after : first;
            end = Arrays.compareUnsigned(end, merged.before) < 0 ? merged.before : end;
            at = all.lowerEntry(before);
        }
        all.put(first, new Range(first, end));
    }

    /** Adds a record that was read and has wrong content, as a range of its own. */
    void addRecord(Family family, byte[] key) {
        add(family, preceding(key), Arrays.copyOf(key, key.length + 1));
    }

    /** Returns the key of the same length that precedes another one; {@link Keys#FIRST} if there is none. */
    static byte[] preceding(byte[] key) {
        byte[] ahead = key.clone();
        for (int at = ahead.length - 1; at >= 0; at--) {
            // A 0 becomes 0xff, and the byte before it becomes lower, too.
            if (ahead[at]-- != 0) {
                return ahead;
            }
        }
        return Keys.FIRST;
    }

    void addChanges(long changes) {
        missingChanges += changes;
    }

    /** Counts a container whose counts had to be made anew. */
    void addRemadeCounts() {
        remadeCounts++;
    }

    /** Adds what is lost besides the ranges, as a sentence. */
    void say(String sentence) {
        sentences.add(sentence);
    }

    /** Sets the id of a container that does not exist, and never will. */
    void setContainer(long id) {
        container = id;
    }

    /** Returns the id of a container that does not exist, to whose only chunk lost pages of recipes refer. */
    public long container() {
        return container;
    }

    boolean isEmpty() {
        return ranges.isEmpty() && missingChanges == 0;
    }

    /** Returns the ranges in ascending order. */
    Collection<Range> of(Family family) {
        NavigableMap<byte[], Range> all = ranges.get(family);
        return all == null ? List.of() : all.values();
    }

    boolean contains(Family family, byte[] key) {
        NavigableMap<byte[], Range> all = ranges.get(family);
        Map.Entry<byte[], Range> below = all == null ? null : all.lowerEntry(key);
        return below != null && below.getValue().contains(key);
    }

    /** Returns the ranges in ascending order that may have a key from {@code key} on. */
    Collection<Range> from(Family family, byte[] key) {
        NavigableMap<byte[], Range> all = ranges.get(family);
        if (all == null) {
            return List.of();
        }
        byte[] below = all.lowerKey(key);
        return below == null ? all.values() : all.tailMap(below, true).values();
    }

    /** Returns what is lost, as sentences. */
    public List<String> told() {
        Sentences told = new Sentences();
        if (missingChanges > 0) {
            told.add("the last " + missingChanges + " changes, which were only in the damaged log: files are as"
                    + " they were before them");
        }
        ranges.forEach((family, all) -> all.values().forEach(range -> told.add(told(family, range))));
        if (remadeCounts > 0) {
            told.add("marks of damaged chunks of " + remadeCounts + " containers: reading or a scrub finds them again");
        }
        List<String> all = told.list();
        all.addAll(sentences.list());
        return all;
    }

    private static String told(Family family, Range range) {
        String numbers = range.first() + " to " + (range.last() == Long.MAX_VALUE ? "the last" : range.last());
        return switch (family) {
            case SYSTEM -> "records of the volume as a whole; totals are counted anew";
            case INODE -> "inodes from " + numbers + ", as far as they were in a damaged block";
            case ENTRY -> "names in folders with inodes " + numbers + ", as far as they were in a damaged block";
            case XATTR -> "extended attributes of inodes " + numbers + ", as far as they were in a damaged block";
            case RECIPE -> "recipes of inodes " + numbers + ", as far as they were in a damaged block";
            case COUNT -> "counts of containers " + numbers + "; they are counted anew";
            case ORPHAN -> "which of inodes " + numbers + " are being removed";
            case INTENT ->
                "bytes of files with inodes " + numbers + " that were written within the last seconds, as far as they"
                        + " were in a damaged block";
            case RAW ->
                "which of files with inodes " + numbers + " lie whole on the fast tier, as far as that was in a"
                        + " damaged block";
            case CONTAINER -> "places of containers " + numbers + "; they are found in the packs";
            case VERSION, DEATH ->
                "earlier versions of records, as far as they were in a damaged block: snapshots lack them";
        };
    }
}
