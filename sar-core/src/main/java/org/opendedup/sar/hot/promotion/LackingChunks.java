package org.opendedup.sar.hot.promotion;

import java.util.Arrays;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.PromotionTarget;
import org.opendedup.sar.ssd.Source;

/**
 * Finds the chunks that a request read from home although other chunks that it wanted of the same frames have copies.
 * These copies were of no use: the disk reads a frame as a whole. With copies of the lacking chunks, the next request
 * of the kind needs no disk for these frames. No state.
 */
final class LackingChunks {
    /** No chunk is lacking. */
    static final long[] NONE = {};

    private LackingChunks() {}

    /**
     * Returns for each chunk the bytes of the lacking run that it belongs to, or 0: neighbours without copies, all of
     * them in frames with copies. If a neighbour is in a frame without copies, the disk is there in any case. Empty if
     * no chunk is lacking.
     */
    static long[] runBytes(ChunkRequest request, PromotionTarget target) {
        boolean[] isMissing = new boolean[request.count()];
        long[] frames = new long[request.count()];
        int count = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.HOME && request.data(i) != null && request.frame(i) >= 0) {
                isMissing[i] = !target.contains(request.chunkId(i));
                if (!isMissing[i]) {
                    frames[count++] = frame(request, i);
                }
            }
        }
        if (count == 0) {
            return NONE;
        }
        Arrays.sort(frames, 0, count);
        long[] bytes = new long[request.count()];
        for (int from = 0; from < request.count(); ) {
            int to = from + 1;
            boolean isLacking = isMissing[from] && isIn(frames, count, frame(request, from));
            while (isMissing[from] && to < request.count() && isMissing[to] && Runs.continues(request, to)) {
                isLacking &= isIn(frames, count, frame(request, to));
                to++;
            }
            if (isLacking) {
                Arrays.fill(bytes, from, to, Runs.bytes(request, from, to));
            }
            from = to;
        }
        return bytes;
    }

    private static boolean isIn(long[] frames, int count, long frame) {
        return Arrays.binarySearch(frames, 0, count, frame) >= 0;
    }

    private static long frame(ChunkRequest request, int i) {
        return FrameId.inContainerOf(request.chunkId(i), request.frame(i));
    }
}
