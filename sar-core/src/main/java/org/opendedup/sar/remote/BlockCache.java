package org.opendedup.sar.remote;

import com.carrotsearch.hppc.LongIntHashMap;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of packs in the store that were read, kept in local files: a log of segments. A block that comes from the
 * store is appended to a <em>cold</em> segment. When a segment has to go, its blocks that were read again after it was
 * complete are appended to a <em>warm</em> one, and the others are dropped. Cold segments go first, as long as warm
 * ones have at most {@value #WARM_PERCENT} %. So a restore, which reads each block once, never takes the place of what
 * is read again and again (segmented LRU: Karedla, Love and Wherry, IEEE Computer 27(3), 1994; with queues and one bit
 * a block instead of lists, as in S3-FIFO: Yang et al., SOSP '23).
 *
 * <p>A complete segment ends with a table of its blocks, written when they were durable: the next opening finds them.
 * One without a table, as a crash leaves it, is deleted. Blocks never change: a pack in the store does not. Safe for
 * use by many threads.
 */
final class BlockCache implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(BlockCache.class);

    static final int BLOCK_BYTES = 256 << 10;

    /** Bits of a block's number within its pack: enough for packs of 1 GiB. */
    private static final int BLOCK_BITS = 12;

    /** Parts into which the cache is divided: the least that is dropped at once. */
    private static final int SEGMENTS = 64;

    /** Most segments, also of a cache that was larger before; each is an open file. */
    static final int MOST_SEGMENTS = 96;

    /**
     * Blocks after which the system begins to write them: 8 MiB. A segment may have more than a gigabyte. If all of it
     * were written when it is complete, what is read meanwhile would find no room in memory to wait for the cache.
     */
    static final int WRITTEN_BLOCKS = 32;

    /** With less, nothing is cached, in bytes. */
    private static final long LEAST_BYTES = 16 << 20;

    private static final int WARM_PERCENT = 80;

    /** Part of the space that a disk would have without copies, and that they leave free. */
    private static final int FREE_PART = 16;

    /** As much is left free at least, or half of the space of a small disk, in bytes. */
    private static final long FREE_BYTES = 256L << 20;

    /** Heap for the place of one block, in bytes: key and place, in a hash table that is half full on average. */
    private static final int ENTRY_BYTES = 24;

    private static final String FOLDER = "cache/";
    private static final String SUFFIX = ".blocks";
    /** "SARBLKS1". */
    private static final long MAGIC = 0x534152424c4b5331L;

    private static final int TABLE_ENTRY_BYTES = Long.BYTES + Integer.BYTES;
    /** Magic, number of blocks, whether it is warm, CRC-32C of the table and of this. */
    private static final int FOOTER_BYTES = Long.BYTES + 3 * Integer.BYTES;

    private static final int SLOT_SHIFT = 1;
    private static final int SEGMENT_SHIFT = 24;
    private static final int READ_AGAIN = 1;

    private final Directory folder;
    private final long mostBytes;
    private final int segmentBlocks;
    private final Runnable whenLonger;

    /** Held while something is appended or dropped; before the monitor of this. */
    private final Object writing = new Object();

    private @Nullable Segment coldHead;
    private @Nullable Segment warmHead;
    private long lastNumber;

    /** Segment, slot, and whether it was read again, by key. Guarded by this, as are all fields below. */
    private final LongIntHashMap places = new LongIntHashMap();

    private final @Nullable Segment[] segments = new Segment[MOST_SEGMENTS];
    private long bytes;
    private long warmBytes;
    private long hits;

    /** A file of blocks. */
    private static final class Segment {
        final String name;
        final long number;
        final boolean isWarm;
        final Input input;
        final long[] keys;
        final int[] lengths;
        final long madeNanos = System.nanoTime();
        int blocks;
        /** Null when it is complete. */
        @Nullable
        Output output;

        int id;
        int readers;
        boolean isDropped;

        Segment(String name, long number, boolean isWarm, Input input, @Nullable Output output, int most) {
            this.name = name;
            this.number = number;
            this.isWarm = isWarm;
            this.input = input;
            this.output = output;
            keys = new long[most];
            lengths = new int[most];
        }

        long bytes() {
            return (long) blocks * BLOCK_BYTES;
        }

        boolean isComplete() {
            return output == null;
        }
    }

    /**
     * Opens the cache in a folder, with the blocks that were complete when it was closed.
     *
     * @param mostBytes bound of its files, in bytes
     * @param indexBytes bound of the memory for the places of blocks, in bytes; it limits the files too
     * @param whenLonger called without a lock when the cache has become longer, or its disk has too little space
     */
    static BlockCache open(Directory folder, long mostBytes, long indexBytes, Runnable whenLonger) throws IOException {
        BlockCache cache = new BlockCache(folder, mostBytes, indexBytes, whenLonger);
        for (String name : folder.list()) {
            if (isSegment(name)) {
                cache.take(name);
            }
        }
        return cache;
    }

    private BlockCache(Directory folder, long mostBytes, long indexBytes, Runnable whenLonger) {
        this.folder = folder;
        long most = Math.min(mostBytes, indexBytes / ENTRY_BYTES * BLOCK_BYTES);
        this.mostBytes = most < LEAST_BYTES ? 0 : most;
        segmentBlocks = (int) Math.min(1 << 22, Math.max(1, this.mostBytes / SEGMENTS / BLOCK_BYTES));
        this.whenLonger = whenLonger;
    }

    /** Returns whether a file of the folder belongs to a cache. */
    static boolean isSegment(String name) {
        return name.startsWith(FOLDER) && name.endsWith(SUFFIX);
    }

    /** Returns the name of a file of the folder that is no segment: the next opening of the cache deletes it. */
    static String temporary(String name) {
        return FOLDER + name.replace('/', '-') + SUFFIX;
    }

    /**
     * Returns how many bytes of a disk copies of what the store has may take, so that they leave space for others.
     *
     * @param copies bytes that the copies have there
     */
    static long mostOn(Directory folder, long copies) {
        try {
            long free = folder.usableBytes() + copies;
            return free - Math.max(free / FREE_PART, Math.min(FREE_BYTES, free / 2));
        } catch (IOException e) {
            log.debug("the space of {} is not known", folder, e);
            return Long.MAX_VALUE;
        }
    }

    /** Returns what names a block of a pack here. */
    static long key(long pack, long block) {
        return pack << BLOCK_BITS | block;
    }

    boolean isUsed() {
        return mostBytes > 0;
    }

    synchronized long bytes() {
        return bytes;
    }

    /** Number of reads that found their block here. */
    synchronized long hits() {
        return hits;
    }

    // --- opening

    private void take(String name) throws IOException {
        Segment taken = isUsed() ? readTable(name) : null;
        if (taken == null || !enter(taken)) {
            if (taken != null) {
                taken.input.close();
            }
            folder.delete(name);
            return;
        }
        lastNumber = Math.max(lastNumber, taken.number);
        synchronized (this) {
            for (int slot = 0; slot < taken.blocks; slot++) {
                places.put(taken.keys[slot], place(taken, slot));
            }
        }
    }

    /** Returns a complete segment; null if it is none, or is damaged. */
    private @Nullable Segment readTable(String name) throws IOException {
        Input input = null;
        boolean isTaken = false;
        try {
            input = folder.open(name);
            long end = input.length() - FOOTER_BYTES;
            long number = Long.parseUnsignedLong(name.substring(FOLDER.length(), name.length() - SUFFIX.length()), 16);
            ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES);
            if (end < 0) {
                return null;
            }
            input.readFully(end, footer);
            footer.flip();
            long magic = footer.getLong();
            int blocks = footer.getInt();
            boolean isWarm = footer.getInt() != 0;
            if (magic != MAGIC || blocks < 1 || end != blocks * (long) (BLOCK_BYTES + TABLE_ENTRY_BYTES)) {
                return null;
            }
            ByteBuffer table = ByteBuffer.allocate(blocks * TABLE_ENTRY_BYTES + FOOTER_BYTES);
            input.readFully((long) blocks * BLOCK_BYTES, table);
            if (crcOf(table) != table.getInt(table.capacity() - Integer.BYTES)) {
                return null;
            }
            Segment segment = new Segment(name, number, isWarm, input, null, blocks);
            segment.blocks = blocks;
            table.flip();
            for (int slot = 0; slot < blocks; slot++) {
                segment.keys[slot] = table.getLong();
                segment.lengths[slot] = table.getInt();
            }
            isTaken = true;
            return segment;
        } catch (IOException | NumberFormatException e) {
            log.debug("{} is no segment of a cache", name, e);
            return null;
        } finally {
            if (!isTaken && input != null) {
                input.close();
            }
        }
    }

    private static int crcOf(ByteBuffer table) {
        CRC32C crc = new CRC32C();
        crc.update(table.array(), 0, table.capacity() - Integer.BYTES);
        return (int) crc.getValue();
    }

    /** Gives a segment an id; returns false if there is none. */
    private synchronized boolean enter(Segment segment) {
        for (int id = 0; id < segments.length; id++) {
            if (segments[id] == null) {
                segments[id] = segment;
                segment.id = id;
                count(segment, segment.bytes());
                return true;
            }
        }
        return false;
    }

    private void count(Segment segment, long more) {
        bytes += more;
        warmBytes += segment.isWarm ? more : 0;
    }

    private static int place(Segment segment, int slot) {
        return segment.id << SEGMENT_SHIFT | slot << SLOT_SHIFT;
    }

    // --- reading

    synchronized boolean has(long key) {
        return places.containsKey(key);
    }

    /**
     * Copies a block from byte {@code from} of it on into {@code target}, as far as both go. Returns how many bytes; 0
     * if the block is not here.
     */
    int read(long key, int from, ByteBuffer target) {
        Segment segment;
        int slot;
        synchronized (this) {
            int place = places.getOrDefault(key, -1);
            if (place < 0) {
                return 0;
            }
            segment = segmentOf(place);
            slot = slotOf(place);
            if (segment.lengths[slot] <= from) {
                return 0; // After the end of its pack, which the store says.
            }
            if (segment.isComplete()) {
                places.put(key, place | READ_AGAIN);
            }
            segment.readers++;
            hits++;
        }
        int start = target.position();
        int limit = target.limit();
        int count = Math.min(segment.lengths[slot] - from, limit - start);
        try {
            segment.input.readFully((long) slot * BLOCK_BYTES + from, target.limit(start + count));
            return count;
        } catch (IOException e) {
            log.warn("{} in {} cannot be read, and is read from the store: {}", segment.name, folder, e.getMessage());
            forget(key);
            target.position(start);
            return 0;
        } finally {
            target.limit(limit);
            leave(segment);
        }
    }

    private Segment segmentOf(int place) {
        Segment segment = segments[place >>> SEGMENT_SHIFT];
        if (segment == null) {
            throw new AssertionError("a block of a segment that was dropped");
        }
        return segment;
    }

    private static int slotOf(int place) {
        return (place & (1 << SEGMENT_SHIFT) - 1) >>> SLOT_SHIFT;
    }

    private void leave(Segment segment) {
        boolean isLast;
        synchronized (this) {
            segment.readers--;
            isLast = segment.isDropped && segment.readers == 0;
        }
        if (isLast) {
            close(segment);
        }
    }

    private static void close(Segment segment) {
        try {
            segment.input.close();
        } catch (IOException e) {
            log.debug("{} could not be closed", segment.name, e);
        }
    }

    /** Forgets a block: the next read of it is one of the store. Returns whether it was here. */
    synchronized boolean forget(long key) {
        boolean wasHere = places.containsKey(key);
        places.remove(key);
        return wasHere;
    }

    // --- writing

    /**
     * Keeps a block that was read from the store, if it is not here.
     *
     * @throws NoSpaceException if the disk has too little space for it, or none
     */
    void put(long key, ByteBuffer block) throws IOException {
        boolean isShort;
        boolean isLonger = false;
        synchronized (writing) {
            if (!isUsed() || has(key)) {
                return;
            }
            isShort = bytes() > mostOn(folder, bytes());
            if (!isShort) {
                coldHead = append(coldHead, false, key, block);
                isLonger = coldHead == null || bytes() > mostBytes;
            }
        }
        if (isShort || isLonger) {
            whenLonger.run();
        }
        if (isShort) {
            throw new NoSpaceException("the disk under " + folder + " has too little space for copies");
        }
    }

    /** Appends a block; returns the segment for the next one, null if a new one is to be made. */
    private @Nullable Segment append(@Nullable Segment head, boolean isWarm, long key, ByteBuffer block)
            throws IOException {
        Segment segment = head == null ? create(isWarm) : head;
        Output output = segment.output;
        if (output == null) {
            throw new AssertionError(segment.name + " is complete");
        }
        int length = block.remaining();
        try {
            output.append(block);
            if (length < BLOCK_BYTES) {
                output.append(ByteBuffer.allocate(BLOCK_BYTES - length));
            }
        } catch (IOException e) {
            drop(segment);
            forgetHead(segment);
            throw e;
        }
        synchronized (this) {
            int slot = segment.blocks++;
            segment.keys[slot] = key;
            segment.lengths[slot] = length;
            places.put(key, place(segment, slot));
            count(segment, BLOCK_BYTES);
        }
        if (segment.blocks % WRITTEN_BLOCKS == 0) {
            output.startWriting();
        }
        if (segment.blocks < segment.keys.length) {
            return segment;
        }
        try {
            complete(segment);
        } catch (IOException e) {
            log.warn("{} in {} serves this mount only: {}", segment.name, folder, e.getMessage());
        }
        return null;
    }

    private void forgetHead(Segment segment) {
        coldHead = coldHead == segment ? null : coldHead;
        warmHead = warmHead == segment ? null : warmHead;
    }

    private Segment create(boolean isWarm) throws IOException {
        long number = ++lastNumber;
        String name = FOLDER + String.format("%016x", number) + SUFFIX;
        Output output = folder.create(name);
        try {
            Segment made = new Segment(name, number, isWarm, folder.open(name), output, segmentBlocks);
            Segment victim = enter(made) ? null : victim();
            if (victim != null) {
                drop(victim);
                enter(made);
            }
            return made;
        } catch (IOException e) {
            output.close();
            folder.delete(name);
            throw e;
        }
    }

    /** Makes the blocks durable, then the table that says so. */
    private void complete(Segment segment) throws IOException {
        ByteBuffer table = ByteBuffer.allocate(segment.blocks * TABLE_ENTRY_BYTES + FOOTER_BYTES);
        for (int slot = 0; slot < segment.blocks; slot++) {
            table.putLong(segment.keys[slot]).putInt(segment.lengths[slot]);
        }
        table.putLong(MAGIC).putInt(segment.blocks).putInt(segment.isWarm ? 1 : 0);
        table.putInt(crcOf(table)).flip();
        Output output = segment.output;
        if (output != null) {
            try (output) {
                output.force();
                output.append(table);
            } finally {
                synchronized (this) {
                    segment.output = null;
                }
            }
        }
    }

    // --- making room

    /** Returns when the segment was made that would go next, by {@link System#nanoTime}; null if there is none. */
    synchronized @Nullable Long oldestNanos() {
        Segment victim = victim();
        return victim == null ? null : victim.madeNanos;
    }

    boolean isTooLong() {
        return bytes() > mostBytes;
    }

    private synchronized @Nullable Segment victim() {
        Segment cold = oldest(false);
        boolean hasMuchWarm = warmBytes > mostBytes / 100 * WARM_PERCENT;
        return cold == null || hasMuchWarm ? firstOf(oldest(true), cold) : cold;
    }

    private static @Nullable Segment firstOf(@Nullable Segment one, @Nullable Segment other) {
        return one == null ? other : one;
    }

    private @Nullable Segment oldest(boolean isWarm) {
        List<Segment> complete = new ArrayList<>();
        for (Segment each : segments) {
            if (each != null && each.isComplete() && each.isWarm == isWarm) {
                complete.add(each);
            }
        }
        return complete.stream()
                .min(Comparator.comparingLong(each -> each.number))
                .orElse(null);
    }

    /** Drops a segment, but for blocks that were read again. Returns whether there was one. */
    boolean evict() {
        synchronized (writing) {
            Segment victim = victim();
            if (victim == null) {
                return false;
            }
            List<Integer> kept = new ArrayList<>();
            synchronized (this) {
                for (int slot = 0; slot < victim.blocks; slot++) {
                    if (places.getOrDefault(victim.keys[slot], -1) == (place(victim, slot) | READ_AGAIN)) {
                        kept.add(slot);
                    }
                }
                victim.readers++;
            }
            drop(victim);
            try {
                ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
                for (int slot : kept) {
                    victim.input.readFully(
                            (long) slot * BLOCK_BYTES, block.clear().limit(victim.lengths[slot]));
                    warmHead = append(warmHead, true, victim.keys[slot], block.flip());
                }
            } catch (IOException e) {
                log.warn("blocks of {} in {} are not kept: {}", victim.name, folder, e.getMessage());
            } finally {
                leave(victim);
            }
            return true;
        }
    }

    /** Deletes a segment and forgets its blocks. */
    private void drop(Segment segment) {
        boolean isUnread;
        Output output;
        synchronized (this) {
            for (int slot = 0; slot < segment.blocks; slot++) {
                int place = places.getOrDefault(segment.keys[slot], -1);
                if ((place & ~READ_AGAIN) == place(segment, slot)) {
                    places.remove(segment.keys[slot]);
                }
            }
            segments[segment.id] = null;
            count(segment, -segment.bytes());
            segment.isDropped = true;
            isUnread = segment.readers == 0;
            output = segment.output;
        }
        try {
            if (output != null) {
                output.close();
            }
            folder.delete(segment.name);
        } catch (IOException e) {
            log.warn("{} in {} is not deleted: {}", segment.name, folder, e.getMessage());
        }
        if (isUnread) {
            close(segment);
        }
    }

    /** Completes the segments that are being written, and closes all. */
    @Override
    public void close() throws IOException {
        synchronized (writing) {
            Closing closing = new Closing();
            for (Segment segment : segments) {
                if (segment != null) {
                    if (!segment.isComplete()) {
                        closing.run(() -> complete(segment));
                    }
                    closing.run(segment.input::close);
                }
            }
            closing.finish();
        }
    }
}
