package org.opendedup.sar.index.chunkstash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;

/**
 * The pages in memory, with one hash table over their live entries: those being filled (the write buffer of ChunkStash)
 * and those read or written last (its container metadata cache; section 3). A page that is being filled stays; of the
 * others the least recently used one makes room. Fingerprints are random, so eight of their bytes are the hash.
 *
 * <p>Not thread-safe.
 */
final class PageFrames {
    /** Bytes of a page in memory: entries, chains, and at most two buckets an entry. */
    static final int FRAME_BYTES = PageDirectory.PAGE_ENTRIES * (StashRecords.ENTRY_BYTES + 3 * Integer.BYTES);

    private static final int NONE = -1;
    private static final int HASH_OFFSET = 24;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** A page in memory. */
    static final class Frame {
        final byte[] entries = new byte[PageDirectory.PAGE_ENTRIES * StashRecords.ENTRY_BYTES];
        private final int[] chain = new int[PageDirectory.PAGE_ENTRIES];
        private final int number;
        int page;
        long container;
        int count;
        /** Whether it is being filled. */
        boolean isOpen;
        /** Entries that are superseded by a page in the log. Those superseded by an open page are not among them. */
        long @Nullable [] supersededInLog;

        /** Pointers that entries of this open page supersede. */
        long[] superseded = new long[0];

        int supersededCount;
        private long usedAt;

        private Frame(int number) {
            this.number = number;
        }

        void supersede(long pointer) {
            if (supersededCount == superseded.length) {
                superseded = Arrays.copyOf(superseded, Math.max(16, 2 * supersededCount));
            }
            superseded[supersededCount++] = pointer;
        }

        void forgetSuperseded(int freed) {
            int kept = 0;
            for (int i = 0; i < supersededCount; i++) {
                if (PageDirectory.page(superseded[i]) != freed) {
                    superseded[kept++] = superseded[i];
                }
            }
            supersededCount = kept;
        }
    }

    private final @Nullable Frame[] frames;
    private final int[] buckets;
    private final Map<Integer, Frame> byPage = new HashMap<>();
    private int used;
    private long clock;

    /** @param most number of pages in memory */
    PageFrames(int most) {
        frames = new Frame[most];
        buckets = new int[Integer.highestOneBit(most * PageDirectory.PAGE_ENTRIES - 1) * 2];
        Arrays.fill(buckets, NONE);
    }

    /** Returns where a fingerprint is, for the methods below; a negative number if it is in no page in memory. */
    int find(byte[] fingerprints, int offset) {
        int at = buckets[bucket(fingerprints, offset)];
        while (at != NONE) {
            Frame frame = frame(at);
            int entry = at & PageDirectory.PAGE_ENTRIES - 1;
            if (isAt(frame, entry, fingerprints, offset)) {
                frame.usedAt = ++clock;
                return at;
            }
            at = frame.chain[entry];
        }
        return NONE;
    }

    private static boolean isAt(Frame frame, int entry, byte[] fingerprints, int offset) {
        int at = entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT;
        return Arrays.equals(
                frame.entries, at, at + Fingerprints.BYTES, fingerprints, offset, offset + Fingerprints.BYTES);
    }

    Frame frame(int at) {
        Frame frame = frames[at >>> PageDirectory.ENTRY_BITS];
        if (frame == null) {
            throw new IllegalStateException("no page in memory has number " + at);
        }
        return frame;
    }

    static int entry(int at) {
        return at & PageDirectory.PAGE_ENTRIES - 1;
    }

    @Nullable
    Frame ofPage(int page) {
        return byPage.get(page);
    }

    /** Returns the memory of the pages that were in use so far, in bytes. */
    long memoryBytes() {
        return (long) used * FRAME_BYTES;
    }

    /** Makes an entry of a page findable. */
    void link(Frame frame, int entry) {
        int bucket = bucket(frame.entries, entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT);
        frame.chain[entry] = buckets[bucket];
        buckets[bucket] = frame.number << PageDirectory.ENTRY_BITS | entry;
    }

    /** Makes an entry of a page findable unless its fingerprint is found in another page. */
    void linkIfAbsent(Frame frame, int entry) {
        if (find(frame.entries, entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT) == NONE) {
            link(frame, entry);
        }
    }

    /** Reverts {@link #link}; does nothing if the entry is not findable. */
    void unlink(Frame frame, int entry) {
        int bucket = bucket(frame.entries, entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT);
        int wanted = frame.number << PageDirectory.ENTRY_BITS | entry;
        int at = buckets[bucket];
        if (at == wanted) {
            buckets[bucket] = frame.chain[entry];
            return;
        }
        while (at != NONE) {
            Frame before = frame(at);
            int entryBefore = entry(at);
            at = before.chain[entryBefore];
            if (at == wanted) {
                before.chain[entryBefore] = frame.chain[entry];
                return;
            }
        }
    }

    /**
     * Returns a frame for a page, without entries, in the place of the least recently used page that is not open.
     *
     * @throws IllegalStateException if all are open
     */
    Frame take(int page, long container) {
        Frame frame = used < frames.length ? fresh() : evicted();
        frame.page = page;
        frame.container = container;
        frame.count = 0;
        frame.isOpen = false;
        frame.supersededInLog = null;
        frame.supersededCount = 0;
        frame.usedAt = ++clock;
        byPage.put(page, frame);
        return frame;
    }

    private Frame fresh() {
        Frame frame = new Frame(used);
        frames[used++] = frame;
        return frame;
    }

    private Frame evicted() {
        Frame oldest = null;
        for (Frame frame : frames) {
            if (frame != null && !frame.isOpen && (oldest == null || frame.usedAt < oldest.usedAt)) {
                oldest = frame;
            }
        }
        if (oldest == null) {
            throw new IllegalStateException("all pages in memory are being filled");
        }
        forget(oldest);
        return oldest;
    }

    private void forget(Frame frame) {
        for (int entry = 0; entry < frame.count; entry++) {
            unlink(frame, entry);
        }
        byPage.remove(frame.page, frame);
        frame.count = 0;
        frame.isOpen = false;
        frame.page = 0;
        frame.usedAt = 0;
    }

    /** Forgets a page, if it is in memory. */
    void remove(int page) {
        Frame frame = byPage.get(page);
        if (frame != null) {
            forget(frame);
        }
    }

    void forEachOpen(Consumer<Frame> visitor) {
        for (Frame frame : frames) {
            if (frame != null && frame.isOpen) {
                visitor.accept(frame);
            }
        }
    }

    void clear() {
        Arrays.fill(buckets, NONE);
        for (Frame frame : frames) {
            if (frame != null) {
                frame.count = 0;
                frame.isOpen = false;
                frame.page = 0;
                frame.usedAt = 0;
            }
        }
        byPage.clear();
    }

    private int bucket(byte[] fingerprints, int offset) {
        return (int) (long) LONG.get(fingerprints, offset + HASH_OFFSET) & buckets.length - 1;
    }
}
