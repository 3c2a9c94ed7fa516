package org.opendedup.sar.metadata.recipes;

import com.carrotsearch.hppc.LongIntHashMap;
import com.carrotsearch.hppc.cursors.LongIntCursor;
import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
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
    private final VersionGap gap;

    VersionSpace(Overlay overlay, ReferenceCounts counts, int pageBytes, VersionGap gap) {
        this.overlay = overlay;
        this.counts = counts;
        this.pageBytes = pageBytes;
        this.gap = gap;
    }

    /** Returns the bytes of these chunks before compression. */
    long bytes() throws IOException {
        for (int passes = 1; ; passes *= 2) {
            long bytes = 0;
            boolean fits = true;
            for (int pass = 0; pass < passes && fits; pass++) {
                LongIntHashMap references = new LongIntHashMap();
                fits = add(references, pass, passes);
                bytes += fits ? freed(references) : 0;
            }
            if (fits) {
                return bytes;
            }
        }
    }

    /** Counts the references to the chunks of one pass; returns false if they are too many. */
    private boolean add(LongIntHashMap references, int pass, int passes) throws IOException {
        long death = gap.nextDeath(overlay, gap.firstDeath());
        while (death <= gap.after()) {
            try (Cursor cursor = overlay.scan(Family.DEATH, gap.from(death), gap.to(death))) {
                while (cursor.next()) {
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
        byte[] value = overlay.get(Family.VERSION, VersionKeys.version(Kind.RECIPE, key, death));
        try {
            return value == null ? RecipePage.EMPTY : RecipeFormat.decode(key, value, pageBytes);
        } catch (CorruptionException | UnsupportedFormatException e) {
            // The chunks of a damaged page are not freed.
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
            bytes += counts.count(each.key) == each.value ? counts.length(each.key) : 0;
        }
        return bytes;
    }
}
