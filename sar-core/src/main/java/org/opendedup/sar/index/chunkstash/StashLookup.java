package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * Looks up the chunks of a segment: in the pages in memory, then in the table, and then in the log. Where several
 * chunks have their candidates in one page, the whole page is read and stays in memory for the next segments
 * (ChunkStash, section 3, prefetching). Where one chunk alone has, only that entry is read: a stream without locality
 * would evict all pages that others need. With a table of samples each candidate reads its page, because the page has
 * the neighbours that the table lacks. For use by one thread.
 */
final class StashLookup {
    private static final int MOST_CANDIDATES = 24;

    private final StashState state;
    private final StashCounters counters;
    private final Object lock;

    private final long[] found = new long[MOST_CANDIDATES];
    /** Candidates of all chunks: pointers with the numbers of their chunks, sorted. */
    private long[] candidates = new long[512];

    private int[] chunks = new int[512];
    private int count;
    private int[] missing = new int[512];
    private int missingCount;

    /** @param lock held while the state is used */
    StashLookup(StashState state, StashCounters counters, Object lock) {
        this.state = state;
        this.counters = counters;
        this.lock = lock;
    }

    void run(Segment segment) throws IOException {
        PagePlace[] places;
        boolean isSampled;
        synchronized (lock) {
            collect(segment);
            findInMemory(segment);
            if (missingCount == 0) {
                return;
            }
            isSampled = state.interval() > 1;
            collectCandidates(segment);
            places = places();
        }
        // A page is read without the lock. Segments of the log are not deleted meanwhile.
        int from = 0;
        for (PagePlace place : places) {
            int to = from;
            while (to < count && PageDirectory.page(candidates[to]) == place.page()) {
                to++;
            }
            if (isSampled || isWorthAPage(from, to)) {
                readPage(segment, place);
            } else {
                readEntries(segment, place, from, to);
            }
            from = to;
        }
    }

    private void collect(Segment segment) {
        if (missing.length < segment.count()) {
            missing = new int[segment.count()];
        }
        missingCount = 0;
        for (int i = 0; i < segment.count(); i++) {
            if (!segment.isZero(i)) {
                missing[missingCount++] = i;
            }
        }
    }

    /** Sets the hints of the chunks that are in memory, and removes these from the missing ones. */
    private void findInMemory(Segment segment) {
        int still = 0;
        for (int m = 0; m < missingCount; m++) {
            int chunk = missing[m];
            int at = state.frames.find(segment.fingerprints(), Segment.fingerprintOffset(chunk));
            if (at < 0) {
                segment.setHint(chunk, ChunkId.NONE);
                missing[still++] = chunk;
            } else {
                PageFrames.Frame frame = state.frames.frame(at);
                int slot = StashRecords.slot(frame.entries, PageFrames.entry(at));
                segment.setHint(chunk, ChunkId.of(frame.container, slot));
            }
        }
        missingCount = still;
    }

    private void collectCandidates(Segment segment) throws IOException {
        count = 0;
        CuckooTable table = state.table();
        for (int m = 0; m < missingCount; m++) {
            int chunk = missing[m];
            int some = table.candidates(segment.fingerprints(), Segment.fingerprintOffset(chunk), found);
            for (int i = 0; i < some; i++) {
                if (count == candidates.length) {
                    candidates = Arrays.copyOf(candidates, 2 * count);
                    chunks = Arrays.copyOf(chunks, 2 * count);
                }
                candidates[count] = found[i];
                chunks[count++] = chunk;
            }
        }
        sortCandidates();
    }

    /** Sorts by page. They are mostly in order already, since a stream passes through one page after another. */
    private void sortCandidates() {
        boolean isSorted = true;
        for (int i = 1; i < count && isSorted; i++) {
            isSorted = PageDirectory.page(candidates[i - 1]) <= PageDirectory.page(candidates[i]);
        }
        if (isSorted) {
            return;
        }
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            keys[i] = (long) PageDirectory.page(candidates[i]) << Integer.SIZE | i;
        }
        Arrays.sort(keys);
        long[] pointers = new long[candidates.length];
        int[] ofChunks = new int[candidates.length];
        for (int i = 0; i < count; i++) {
            pointers[i] = candidates[(int) keys[i]];
            ofChunks[i] = chunks[(int) keys[i]];
        }
        candidates = pointers;
        chunks = ofChunks;
    }

    private PagePlace[] places() {
        PagePlace[] places = new PagePlace[count];
        int number = 0;
        for (int i = 0; i < count; i++) {
            int page = PageDirectory.page(candidates[i]);
            if (number == 0 || places[number - 1].page() != page) {
                places[number++] = new PagePlace(state.pages, page);
            }
        }
        return Arrays.copyOf(places, number);
    }

    /** Returns whether two chunks that are neighbours in the segment have candidates in one page. */
    private boolean isWorthAPage(int from, int to) {
        for (int i = from + 1; i < to; i++) {
            if (chunks[i] != chunks[i - 1]) {
                return true;
            }
        }
        return false;
    }

    private void readPage(Segment segment, PagePlace place) throws IOException {
        synchronized (lock) {
            // Another page or thread may have answered already.
            findInMemory(segment);
            if (missingCount == 0 || state.frames.ofPage(place.page()) != null) {
                return;
            }
        }
        ByteBuffer record = StashState.readPage(state.records, place);
        counters.countRead(place.length());
        synchronized (lock) {
            state.cache(place, record);
            findInMemory(segment);
        }
    }

    private void readEntries(Segment segment, PagePlace place, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            int chunk = chunks[i];
            byte[] entry = StashState.readEntry(state.records, place, PageDirectory.entry(candidates[i]));
            counters.countRead(entry.length);
            int offset = Segment.fingerprintOffset(chunk);
            int at = StashRecords.FINGERPRINT_AT;
            if (Arrays.equals(
                    entry, at, at + Fingerprints.BYTES, segment.fingerprints(), offset, offset + Fingerprints.BYTES)) {
                segment.setHint(chunk, ChunkId.of(place.container(), StashRecords.slot(entry, 0)));
                forget(chunk);
            } else {
                counters.countFalseRead();
            }
        }
    }

    /** Removes a chunk that was answered from the missing ones. */
    private void forget(int chunk) {
        int at = Arrays.binarySearch(missing, 0, missingCount, chunk);
        if (at >= 0) {
            System.arraycopy(missing, at + 1, missing, at, missingCount - at - 1);
            missingCount--;
        }
    }
}
