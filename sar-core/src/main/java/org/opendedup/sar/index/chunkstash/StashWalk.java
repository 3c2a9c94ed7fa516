package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;

/** Visits entries of a ChunkStash index in the order of its pages. For use by one thread, with the index's lock. */
final class StashWalk {
    /** Attempts to find a page with a live entry, at random. */
    private static final int MOST_TRIES = 100;

    private final StashState state;

    StashWalk(StashState state) {
        this.state = state;
    }

    /**
     * Visits up to {@code count} live entries.
     *
     * @param from pointer from which on entries are visited
     * @return the pointer to go on from; 0 if all were visited
     */
    long run(long from, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        int visited = 0;
        int first = PageDirectory.entry(from);
        for (int page = PageDirectory.page(from); page <= state.pages.highest(); page++) {
            if (state.pages.exists(page)) {
                byte[] entries = state.entries(page);
                for (int entry = first; entry < state.count(page); entry++) {
                    if (state.pages.isLive(page, entry)) {
                        if (visited == count) {
                            return PageDirectory.pointer(page, entry);
                        }
                        visit(page, entry, entries, visitor);
                        visited++;
                    }
                }
            }
            first = 0;
        }
        return 0;
    }

    private void visit(int page, int entry, byte[] entries, ChunkIndex.EntryVisitor visitor) {
        visitor.visit(
                fingerprint(entries, entry),
                ChunkId.of(state.pages.container(page), StashRecords.slot(entries, entry)));
    }

    private static byte[] fingerprint(byte[] entries, int entry) {
        int at = entry * StashRecords.ENTRY_BYTES;
        return Arrays.copyOfRange(entries, at + StashRecords.FINGERPRINT_AT, at + StashRecords.ENTRY_BYTES);
    }

    /** Visits a random live entry of a random page, if it finds one. */
    void sample(RandomGenerator random, ChunkIndex.EntryVisitor visitor) throws IOException {
        int highest = state.pages.highest();
        for (int i = 0; i < MOST_TRIES && highest > 0; i++) {
            int page = 1 + random.nextInt(highest);
            int count = state.pages.exists(page) ? state.count(page) : 0;
            int live = state.pages.exists(page) ? state.pages.live(page, count) : 0;
            if (live > 0) {
                byte[] entries = state.entries(page);
                int entry = random.nextInt(count);
                while (!state.pages.isLive(page, entry)) {
                    entry = (entry + 1) % count;
                }
                visit(page, entry, entries, visitor);
                return;
            }
        }
    }

    /** Visits the slots of a page that are kept. */
    void forEachKept(int page, ChunkIndex.SlotVisitor visitor) throws IOException {
        byte[] entries = state.entries(page);
        for (int entry = 0; entry < state.count(page); entry++) {
            if (state.pages.isKept(page, entry)) {
                visitor.visit(StashRecords.slot(entries, entry), fingerprint(entries, entry));
            }
        }
    }
}
