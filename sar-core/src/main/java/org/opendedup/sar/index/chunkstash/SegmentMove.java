package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.DiskIndex;

/**
 * Moves the pages and frame tables of a segment of the log to the disk index, page by page (ChunkStash, section 3.4).
 * They are copied while the index is in use: as long as the log has them, it is asked first, so the copies do not
 * count. What changes meanwhile is noted by a comparison at the end. For use by one thread.
 */
final class SegmentMove {
    private final StashState state;
    private final Object lock;
    private final DiskIndex disk;
    private final int segment;
    private final List<Page> pages = new ArrayList<>();
    private final List<Long> covers = new ArrayList<>();

    /** A page as it was copied. */
    private record Page(int page, long container, long place, BitSet live, BitSet kept) {}

    /** @param lock held while the state is used */
    SegmentMove(StashState state, Object lock, DiskIndex disk, int segment) {
        this.state = state;
        this.lock = lock;
        this.disk = disk;
        this.segment = segment;
    }

    int segment() {
        return segment;
    }

    /** Copies all that the segment has. It must not be deleted meanwhile. */
    void copy() throws IOException {
        List<Integer> numbers;
        long[] covered;
        synchronized (lock) {
            numbers = state.pagesIn(segment);
            covered = state.covers.containers();
        }
        for (int page : numbers) {
            copyPage(page);
        }
        for (long container : covered) {
            copyCover(container);
        }
    }

    private void copyPage(int number) throws IOException {
        // Under the lock to its end: what is forgotten on the disk at the same time must not come before.
        synchronized (lock) {
            long place = state.pages.place(number);
            if (state.pages.exists(number) && place >= 0 && StashLog.segment(place) == segment) {
                Page page = new Page(number, state.pages.container(number), place, live(number), kept(number));
                pages.add(page);
                add(page, state.entries(number));
            }
        }
    }

    private void add(Page page, byte[] entries) throws IOException {
        int count = page.kept.cardinality();
        int[] slots = new int[count];
        byte[] fingerprints = new byte[count * Fingerprints.BYTES];
        BitSet live = new BitSet();
        int at = 0;
        for (int entry = page.kept.nextSetBit(0); entry >= 0; entry = page.kept.nextSetBit(entry + 1)) {
            slots[at] = StashRecords.slot(entries, entry);
            live.set(at, page.live.get(entry));
            copyFingerprint(entries, entry, fingerprints, at++);
        }
        disk.add(page.container, new DiskIndex.Entries(slots, fingerprints, live));
    }

    private static void copyFingerprint(byte[] entries, int entry, byte[] target, int number) {
        int from = entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT;
        System.arraycopy(entries, from, target, number * Fingerprints.BYTES, Fingerprints.BYTES);
    }

    private BitSet live(int page) {
        BitSet live = kept(page);
        live.andNot(bits(state.pages.notLive(page)));
        return live;
    }

    private BitSet kept(int page) {
        BitSet kept = new BitSet();
        kept.set(0, state.pages.count(page));
        kept.andNot(bits(state.pages.notKept(page)));
        return kept;
    }

    private static BitSet bits(long @Nullable [] bitmap) {
        return bitmap == null ? new BitSet() : BitSet.valueOf(bitmap);
    }

    private void copyCover(long container) throws IOException {
        byte[] frameTable;
        synchronized (lock) {
            int number = state.covers.find(container);
            if (number < 0 || StashLog.segment(state.covers.place(number)) != segment) {
                return;
            }
            ByteBuffer record = state.records.read(state.covers.place(number), state.covers.length(number));
            frameTable = StashRecords.frameTable(record);
        }
        covers.add(container);
        disk.cover(container, frameTable);
    }

    /**
     * Corrects the copies by what changed since. No page may be open, and nothing else may use the state. What replaces
     * an entry of the segment must be durable: a copy that is forgotten is not found after a crash.
     */
    void reconcile() throws IOException {
        for (Page page : pages) {
            boolean isThere = state.pages.exists(page.page) && state.pages.place(page.page) == page.place;
            BitSet dropped = (BitSet) page.kept.clone();
            BitSet struck = (BitSet) page.live.clone();
            if (isThere) {
                dropped.andNot(kept(page.page));
                struck.andNot(live(page.page));
            }
            struck.andNot(dropped);
            if (!dropped.isEmpty() || !struck.isEmpty()) {
                byte[] entries = entries(page);
                remove(page.container, entries, dropped);
                forget(entries, struck);
            }
        }
        for (long container : covers) {
            if (state.covers.find(container) < 0) {
                disk.uncover(container);
            }
        }
    }

    /** Reads a page where it was when it was copied, whatever has its number now. */
    private byte[] entries(Page page) throws IOException {
        ByteBuffer start = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        state.records.readPart(page.place, 0, start);
        ByteBuffer record = state.records.read(page.place, start.getInt(0));
        return Arrays.copyOfRange(
                record.array(), StashRecords.entriesAt(record.limit(), StashRecords.count(record)), record.limit());
    }

    private void remove(long container, byte[] entries, BitSet dropped) throws IOException {
        BitSet slots = new BitSet();
        for (int entry = dropped.nextSetBit(0); entry >= 0; entry = dropped.nextSetBit(entry + 1)) {
            slots.set(StashRecords.slot(entries, entry));
        }
        byte[] fingerprints = new byte[slots.length() * Fingerprints.BYTES];
        for (int entry = dropped.nextSetBit(0); entry >= 0; entry = dropped.nextSetBit(entry + 1)) {
            copyFingerprint(entries, entry, fingerprints, StashRecords.slot(entries, entry));
        }
        disk.remove(container, fingerprints, slots);
    }

    private void forget(byte[] entries, BitSet struck) throws IOException {
        byte[] fingerprints = new byte[struck.length() * Fingerprints.BYTES];
        for (int entry = struck.nextSetBit(0); entry >= 0; entry = struck.nextSetBit(entry + 1)) {
            copyFingerprint(entries, entry, fingerprints, entry);
        }
        disk.forget(fingerprints, struck);
    }
}
