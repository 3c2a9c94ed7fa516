package org.opendedup.sar.hot.promotion;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.ssd.ChunkRequest;

/**
 * Measures the runs in one request: consecutive chunks that are neighbours in their container, so that they cost the
 * disk one request together (SAR paper §3.4: nonsequential by length and address). {@link FileRuns} measures those of a
 * file. No state.
 */
final class Runs {
    private Runs() {}

    /** Returns the index one past the last chunk of the run that begins with chunk {@code from}. */
    static int end(ChunkRequest request, int from) {
        int end = from + 1;
        while (end < request.count() && continues(request, end)) {
            end++;
        }
        return end;
    }

    /** Returns whether chunk {@code i} is in the run of the chunk before it. */
    static boolean continues(ChunkRequest request, int i) {
        return isRepeat(request, i)
                || request.chunkId(i) == request.chunkId(i - 1) + 1
                        && ChunkId.container(request.chunkId(i)) == ChunkId.container(request.chunkId(i - 1));
    }

    /**
     * Returns whether chunk {@code i} is the previous one again, because a page border cut it or the file repeats it.
     */
    static boolean isRepeat(ChunkRequest request, int i) {
        return i > 0 && request.chunkId(i) == request.chunkId(i - 1);
    }

    /**
     * Returns the bytes that the disk reads for the run from chunk {@code from} to chunk {@code to} (exclusive); each
     * chunk counts once.
     */
    static long bytes(ChunkRequest request, int from, int to) {
        long bytes = 0;
        int longest = 0;
        for (int i = from; i < to; i++) {
            longest = i > from && isRepeat(request, i) ? Math.max(longest, request.length(i)) : request.length(i);
            boolean last = i + 1 == to || !isRepeat(request, i + 1);
            bytes += last ? longest : 0;
        }
        return bytes;
    }
}
