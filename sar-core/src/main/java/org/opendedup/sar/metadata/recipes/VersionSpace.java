package org.opendedup.sar.metadata.recipes;

import com.carrotsearch.hppc.LongIntHashMap;
import com.carrotsearch.hppc.cursors.LongIntCursor;
import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.counts.ClockTable;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;

/**
 * Computes what deleting snapshots would free: the chunks to which nothing else refers. Compares the references of the
 * versions that only these snapshots have with the counts. Reads nothing else, in several passes if the chunks are
 * many, so that memory is bounded. For one thread.
 */
final class VersionSpace {
    /** Most chunks of one pass: 48 MB of memory at most while the map grows. */
    private static final int MOST_CHUNKS = 1 << 20;

    private final Overlay overlay;
    private final ReferenceCounts counts;
    private final int pageBytes;
    private final List<VersionGap> gaps;
    private final Progress progress;
    private long pages;

    /** @param gaps no two of them meet */
    VersionSpace(Overlay overlay, ReferenceCounts counts, int pageBytes, List<VersionGap> gaps, Progress progress) {
        this.overlay = overlay;
        this.counts = counts;
        this.pageBytes = pageBytes;
        this.gaps = gaps;
        this.progress = progress;
    }

    /** Returns the bytes of these chunks before compression. */
    long bytes() throws IOException {
        for (int passes = 1; ; passes *= 2) {
            long bytes = 0;
            boolean fits = true;
            for (int pass = 0; pass < passes && fits; pass++) {
                LongIntHashMap references = new LongIntHashMap();
                for (int gap = 0; gap < gaps.size() && fits; gap++) {
                    fits = add(gaps.get(gap), references, pass, passes);
                }
                bytes += fits ? freed(references) : 0;
            }
            if (fits) {
                return bytes;
            }
        }
    }

    /** Counts the references of a gap to the chunks of one pass; returns false if they are too many. */
    private boolean add(VersionGap gap, LongIntHashMap references, int pass, int passes) throws IOException {
        long death = gap.nextDeath(overlay, gap.firstDeath());
        while (death <= gap.after()) {
            try (Cursor cursor = overlay.scan(Family.DEATH, gap.from(death), gap.to(death))) {
                while (cursor.next()) {
                    progress.at("pages of files", pages++, 0);
                    if (VersionKeys.kindOfDeath(cursor.key()) == Kind.RECIPE) {
                        add(page(VersionKeys.numbersOfDeath(cursor.key()), death), references, pass, passes);
                    }
                    if (references.size() > MOST_CHUNKS) {
                        return false;
                    }
                }
            }
            death = gap.nextDeath(overlay, death + 1);
        }
        return true;
    }

    private RecipePage page(byte[] key, long death) throws IOException {
        try {
            byte[] value = overlay.get(Family.VERSION, VersionKeys.version(Kind.RECIPE, key, death));
            return value == null ? RecipePage.EMPTY : RecipeFormat.decode(key, value, pageBytes);
        } catch (IOException e) {
            // Otherwise the chunks of a page that is damaged, or that the disk does not return, are not freed.
            NoAnswer.rethrow(e);
            return RecipePage.EMPTY;
        }
    }

    private static void add(RecipePage page, LongIntHashMap references, int pass, int passes) {
        for (int entry = 0; entry < page.count(); entry++) {
            long chunk = page.chunkId(entry);
            if (chunk != ChunkId.NONE && (ClockTable.hash(chunk, 0) & passes - 1) == pass) {
                references.addTo(chunk, 1);
            }
        }
    }

    private long freed(LongIntHashMap references) throws IOException {
        long bytes = 0;
        for (LongIntCursor each : references) {
            try {
                bytes += counts.count(each.key) == each.value ? counts.length(each.key) : 0;
            } catch (IOException e) {
                // Otherwise nothing is freed where the counts cannot be read.
                NoAnswer.rethrow(e);
            }
        }
        return bytes;
    }
}
