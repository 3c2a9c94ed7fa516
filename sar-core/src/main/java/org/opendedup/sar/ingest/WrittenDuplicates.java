package org.opendedup.sar.ingest;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.promotion.FileRuns;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.ssd.ChunkRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the duplicates of a stored segment, which were referenced and not stored again, for promotion to the SSD.
 * Reused for the next segment.
 */
final class WrittenDuplicates {
    private static final Logger log = LoggerFactory.getLogger(WrittenDuplicates.class);

    private final ChunkRequest duplicates = new ChunkRequest();
    private long[] ids = new long[0];
    private int[] counts = new int[0];
    /** Runs of all chunks of the segment except zeros; {@code numbers} maps each duplicate to its chunk there. */
    private final FileRuns runs;

    private int[] numbers = new int[0];
    private long[] offsets = new long[0];

    WrittenDuplicates(RecipeStore recipes) {
        runs = new FileRuns(recipes);
    }

    /**
     * Reports the duplicates of a part of a segment, with their bytes, their current reference counts and their runs;
     * while nothing can be promoted, reports only their number.
     *
     * @param part chunks that are reported; the recipe already describes them
     */
    void report(AccessListener promotion, Segment segment, SegmentPart part, ReferenceCounts references) {
        if (!promotion.isActive()) {
            promotion.onDuplicatesMissed(count(segment, part), Refusal.UNAVAILABLE);
            return;
        }
        gather(segment, part);
        if (duplicates.count() == 0) {
            return;
        }
        try {
            runs.measure(part.inode(), part.position(), part.end(), part.open(), promotion.longRunBytes());
            references.occurrences(ids, duplicates.count(), counts);
        } catch (IOException e) {
            log.warn("duplicates are not promoted, their references or runs are unknown: {}", e.getMessage());
            promotion.onDuplicatesMissed(duplicates.count(), Refusal.UNREADABLE);
            duplicates.clear();
            return;
        }
        for (int i = 0; i < duplicates.count(); i++) {
            duplicates.setReferences(i, counts[i]);
            duplicates.setRunBytes(i, runs.runBytes(numbers[i]));
        }
        promotion.onDuplicatesWritten(part.inode(), duplicates);
        reportUnfinished(promotion, part.inode(), part.end());
        // The segment's buffer is filled with other bytes next.
        duplicates.clear();
    }

    /**
     * Reports the unfinished run. Only the last run can be unfinished: from some duplicate to the end of the stored
     * bytes.
     */
    private void reportUnfinished(AccessListener promotion, long inode, long end) {
        int first = duplicates.count();
        while (first > 0 && duplicates.runBytes(first - 1) == FileRuns.UNFINISHED) {
            first--;
        }
        if (first < duplicates.count()) {
            promotion.onRunUnfinished(inode, offsets[first], end);
        }
    }

    private static int count(Segment segment, SegmentPart part) {
        int count = 0;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            count += part.has(segment, chunk) && isDuplicate(segment, chunk) ? 1 : 0;
        }
        return count;
    }

    private static boolean isDuplicate(Segment segment, int chunk) {
        return !segment.isZero(chunk) && !segment.isFresh(chunk);
    }

    private void gather(Segment segment, SegmentPart part) {
        duplicates.clear();
        runs.clear();
        if (ids.length < segment.count()) {
            ids = Arrays.copyOf(ids, segment.count());
            counts = new int[segment.count()];
            numbers = new int[segment.count()];
            offsets = new long[segment.count()];
        }
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isZero(chunk) || !part.has(segment, chunk)) {
                continue;
            }
            long offset = part.positionOf(segment, chunk);
            runs.add(offset, segment.chunkId(chunk), 0, segment.length(chunk));
            if (!isDuplicate(segment, chunk)) {
                continue;
            }
            int fingerprintPrefix =
                    Fingerprints.fingerprintPrefix(segment.fingerprints(), Segment.fingerprintOffset(chunk));
            int i = duplicates.count();
            duplicates.add(segment.chunkId(chunk), segment.length(chunk), fingerprintPrefix, -1);
            duplicates.setData(i, segment.data(), segment.offset(chunk), segment.length(chunk));
            ids[i] = segment.chunkId(chunk);
            numbers[i] = runs.count() - 1;
            offsets[i] = offset;
        }
    }
}
