package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;

/**
 * Makes all changes of a ChunkStash index. The entries of a container are collected in a page, which is written when
 * the container is covered or the page is full. A page record says which entries of other pages its own replace. An
 * entry that is replaced by an entry of an unwritten page is still live in the log: if a crash loses the page that
 * replaces it, its covered container is complete nevertheless.
 *
 * <p>Not thread-safe.
 */
final class StashWriter {
    /** Most pages that are filled at a time: more than there are streams. */
    static final int MOST_OPEN = 32;

    /** Bytes of a page record without entries, and of an entry with what it replaces. */
    private static final int PAGE_BYTES = 320;

    private static final int ENTRY_BYTES = StashRecords.ENTRY_BYTES + Long.BYTES;

    private final StashState state;
    private final StashSpace space;
    /** The open page of each container, the least recently used first. */
    private final Map<Long, PageFrames.Frame> open = new LinkedHashMap<>(16, 0.75f, true);

    StashWriter(StashState state, StashSpace space) {
        this.state = state;
        this.space = space;
    }

    /** @throws org.opendedup.sar.common.NoSpaceException if there is no room; nothing has changed */
    void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        long before = state.find(fingerprints, offset);
        if (before != 0 && state.foundChunk(before) == chunkId) {
            return;
        }
        long container = ChunkId.container(chunkId);
        space.require(PAGE_BYTES + ENTRY_BYTES);
        PageFrames.Frame frame = openPage(container);
        space.open(ENTRY_BYTES);
        if (before != 0) {
            state.strike(before, fingerprints, offset);
            frame.supersede(before);
        }
        int entry = frame.count++;
        StashRecords.putEntry(frame.entries, entry, ChunkId.slot(chunkId), fingerprints, offset);
        state.frames.link(frame, entry);
        state.noteEntry(container);
    }

    private PageFrames.Frame openPage(long container) throws IOException {
        PageFrames.Frame frame = open.get(container);
        if (frame != null && frame.count < PageDirectory.PAGE_ENTRIES) {
            return frame;
        }
        if (frame != null) {
            write(frame);
        } else if (open.size() >= MOST_OPEN) {
            write(open.values().iterator().next());
        }
        if (state.pages.highest() >= PageDirectory.MOST_PAGES) {
            throw new IOException("the fingerprint index has as many pages as it can have");
        }
        int page = state.pages.allocate(container);
        PageFrames.Frame opened = state.frames.take(page, container);
        opened.isOpen = true;
        space.open(PAGE_BYTES);
        open.put(container, opened);
        return opened;
    }

    /** Writes an open page to the log, and enters it in the table. */
    private void write(PageFrames.Frame frame) throws IOException {
        int page = frame.page;
        if (state.pages.isEmpty(page, frame.count)) {
            close(frame);
            state.free(page);
            return;
        }
        StashRecords.seal(page, frame.container, frame.entries, frame.count);
        ByteBuffer record = StashRecords.page(
                page,
                frame.container,
                frame.entries,
                frame.count,
                frame.superseded,
                frame.supersededCount,
                union(frame.supersededInLog, state.pages.notKept(page)),
                state.pages.notKept(page));
        long place = state.records.append(record);
        state.records.use(place, record.limit());
        state.pages.setPlace(page, place, record.limit(), frame.count);
        close(frame);
        frame.isOpen = false;
        for (int i = 0; i < frame.supersededCount; i++) {
            noteSupersededInLog(frame.superseded[i]);
        }
        try {
            state.enter(page, frame.entries, frame.count);
        } catch (IOException e) {
            state.fail();
            throw e;
        }
    }

    private void close(PageFrames.Frame frame) {
        if (open.remove(frame.container, frame)) {
            space.open(-PAGE_BYTES - (long) ENTRY_BYTES * frame.count);
        }
    }

    private void noteSupersededInLog(long pointer) {
        PageFrames.Frame frame = state.frames.ofPage(PageDirectory.page(pointer));
        if (frame != null && frame.isOpen) {
            frame.supersededInLog = PageDirectory.with(frame.supersededInLog, PageDirectory.entry(pointer));
        }
    }

    private static long @Nullable [] union(long @Nullable [] some, long @Nullable [] others) {
        if (some == null || others == null) {
            return some == null ? others : some;
        }
        long[] all = some.clone();
        for (int i = 0; i < all.length; i++) {
            all[i] |= others[i];
        }
        return all;
    }

    /** Returns the pages of a container. */
    List<Integer> pagesOf(long container) {
        List<Integer> found = new ArrayList<>();
        for (int page = 1; page <= state.pages.highest(); page++) {
            if (state.pages.container(page) == container) {
                found.add(page);
            }
        }
        return found;
    }

    /**
     * Forgets the entries of these slots of a container.
     *
     * @param fingerprints slot {@code i}'s begins at {@code i * Fingerprints.BYTES}; other fingerprints stay
     * @param leading gets those of the slots whose fingerprints led there, also if this fails
     */
    void remove(long container, byte[] fingerprints, BitSet slots, BitSet leading) throws IOException {
        for (int page : pagesOf(container)) {
            byte[] entries = state.entries(page);
            BitSet dropped = new BitSet();
            for (int entry = 0; entry < state.count(page); entry++) {
                int slot = StashRecords.slot(entries, entry);
                if (state.pages.isKept(page, entry) && slots.get(slot) && isAt(entries, entry, fingerprints, slot)) {
                    dropped.set(entry);
                    if (state.pages.isLive(page, entry)) {
                        leading.set(slot);
                    }
                }
            }
            drop(page, entries, dropped);
        }
    }

    private static boolean isAt(byte[] entries, int entry, byte[] fingerprints, int slot) {
        int at = entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT;
        int from = slot * Fingerprints.BYTES;
        return Arrays.equals(entries, at, at + Fingerprints.BYTES, fingerprints, from, from + Fingerprints.BYTES);
    }

    private void drop(int page, byte[] entries, BitSet dropped) throws IOException {
        if (dropped.isEmpty()) {
            return;
        }
        if (state.pages.place(page) != PageDirectory.OPEN) {
            state.records.append(StashRecords.dropped(page, dropped));
        }
        for (int entry = dropped.nextSetBit(0); entry >= 0; entry = dropped.nextSetBit(entry + 1)) {
            if (state.pages.isLive(page, entry)) {
                int at = entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT;
                state.strike(PageDirectory.pointer(page, entry), entries, at);
            }
            state.pages.drop(page, entry);
        }
        if (state.pages.isEmpty(page, state.count(page))) {
            PageFrames.Frame frame = state.frames.ofPage(page);
            if (frame != null) {
                close(frame);
            }
            state.free(page);
        }
    }

    void cover(long container, byte[] frameTable) throws IOException {
        ByteBuffer record = StashRecords.cover(container, frameTable);
        space.require(record.limit());
        PageFrames.Frame frame = open.get(container);
        if (frame != null) {
            write(frame);
        }
        state.putCover(container, state.records.append(record), record.limit());
    }

    void uncover(long container) throws IOException {
        for (int page : pagesOf(container)) {
            BitSet left = new BitSet();
            for (int entry = 0; entry < state.count(page); entry++) {
                left.set(entry, state.pages.isKept(page, entry) && !state.pages.isLive(page, entry));
            }
            drop(page, left.isEmpty() ? new byte[0] : state.entries(page), left);
        }
        if (state.covers.find(container) >= 0) {
            state.records.append(StashRecords.uncover(container));
            state.removeCover(container);
        }
    }

    void stamp(Epoch epoch) throws IOException {
        state.records.append(StashRecords.epoch(epoch));
        state.records.force();
        state.epoch = epoch;
    }

    /** Writes all open pages. */
    void writeOpen() throws IOException {
        for (PageFrames.Frame frame : List.copyOf(open.values())) {
            write(frame);
        }
    }

    /** Appends what a segment has that is in use, so that the segment can be deleted. No page may be open. */
    void evacuate(int segment) throws IOException {
        PageDirectory pages = state.pages;
        for (int page = 1; page <= pages.highest(); page++) {
            if (pages.exists(page) && StashLog.segment(pages.place(page)) == segment) {
                int count = pages.count(page);
                ByteBuffer record = StashRecords.page(
                        page,
                        pages.container(page),
                        state.entries(page),
                        count,
                        new long[0],
                        0,
                        pages.notLive(page),
                        pages.notKept(page));
                long place = state.records.append(record);
                state.records.use(place, record.limit());
                state.records.release(pages.place(page), pages.length(page));
                pages.setPlace(page, place, record.limit(), count);
            }
        }
        for (int number = 0; number < state.covers.count(); number++) {
            if (StashLog.segment(state.covers.place(number)) == segment) {
                ByteBuffer record = state.records.read(state.covers.place(number), state.covers.length(number));
                state.putCover(state.covers.container(number), state.records.append(record), record.limit());
            }
        }
    }
}
