package org.opendedup.sar.metadata.recipes;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees the versions that only deleted snapshots have, in steps: those that were born after one snapshot that exists,
 * and died by the next one that does. Reads nothing else. The counts of the chunks that their recipes refer to decrease
 * in the same generation. For one thread.
 */
public final class VersionRelease implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VersionRelease.class);
    /** Most versions of one step. */
    private static final int STEP = 256;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Version(byte[] key, @Nullable RecipePage page) {}

    private final Overlay overlay;
    private final ReferenceCounts counts;
    private final int pageBytes;
    private final VersionGap gap;
    private final List<Version> versions = new ArrayList<>();
    private final List<byte[]> deaths = new ArrayList<>();
    private final Set<Long> held = new HashSet<>();
    /** The death from which on the next step reads, and the first key of it. */
    private long death;

    private byte[] next;
    private long freed;
    /** Deaths whose versions cannot be read. */
    private long unread;

    /** @param gap has deleted snapshots only */
    VersionRelease(Overlay overlay, ReferenceCounts counts, int pageBytes, VersionGap gap) {
        this.overlay = overlay;
        this.counts = counts;
        this.pageBytes = pageBytes;
        this.gap = gap;
        death = gap.firstDeath();
        next = gap.from(death);
    }

    /** Returns the number of versions that were freed. */
    public long freed() {
        return freed;
    }

    /**
     * Reads what the next step frees, and holds its counts in memory. Called without a lock; {@link #free} must follow,
     * and no version may be rewritten in between.
     *
     * @return false if nothing is left
     */
    public boolean load() throws IOException {
        int references = 0;
        while (death <= gap.after() && versions.size() < STEP && references < StepLimit.MAX_REFERENCES) {
            byte[] found = null;
            try (Cursor cursor = overlay.scan(Family.DEATH, next, gap.to(death))) {
                while (versions.size() < STEP && references < StepLimit.MAX_REFERENCES && cursor.next()) {
                    found = cursor.key();
                    references += load(found);
                }
            }
            if (found != null && (versions.size() >= STEP || references >= StepLimit.MAX_REFERENCES)) {
                next = Arrays.copyOf(found, found.length + 1);
            } else {
                death = gap.nextDeath(overlay, death + 1);
                next = gap.from(death);
            }
        }
        return !deaths.isEmpty();
    }

    /**
     * Loads the versions with this death and birth of one record, or of names with the same hash. Leaves them as they
     * are if the disk does not return them, so that the others can be freed: a check finds them, and a repair frees
     * them.
     */
    private int load(byte[] deathKey) throws IOException {
        Kind kind = VersionKeys.kindOfDeath(deathKey);
        List<Version> found = kind == null ? List.of() : readTwice(deathKey, kind);
        if (found == null) {
            return 0;
        }
        deaths.add(deathKey);
        int references = 0;
        for (Version version : found) {
            versions.add(version);
            references += version.page == null ? 1 : hold(version.page);
        }
        return references;
    }

    /** Returns null if the disk returns them at none of two attempts. */
    private @Nullable List<Version> readTwice(byte[] deathKey, Kind kind) throws IOException {
        try {
            return read(deathKey, kind);
        } catch (IOException first) {
            NoAnswer.rethrow(first);
            try {
                return read(deathKey, kind);
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                if (unread++ == 0) {
                    log.error(
                            "records that only deleted snapshots have cannot be read: they, and their chunks, stay"
                                    + " stored until 'sdfs-check VOLUME --repair'",
                            e);
                }
                return null;
            }
        }
    }

    private List<Version> read(byte[] deathKey, Kind kind) throws IOException {
        long diedIn = Keys.longAt(deathKey, 0);
        long bornIn = Keys.longAt(deathKey, Keys.LONG_BYTES);
        byte[] numbers = VersionKeys.numbersOfDeath(deathKey);
        byte[] from = VersionKeys.version(kind, numbers, diedIn);
        byte[] to = VersionKeys.version(kind, numbers, diedIn + 1);
        List<Version> found = new ArrayList<>(1);
        try (Cursor cursor = overlay.scan(Family.VERSION, from, to)) {
            while (cursor.next()) {
                byte[] value = cursor.value();
                if (Births.of(value) == bornIn) {
                    found.add(new Version(cursor.key(), kind == Kind.RECIPE ? page(numbers, value) : null));
                }
            }
        }
        return found;
    }

    private @Nullable RecipePage page(byte[] key, byte[] value) {
        try {
            return RecipeFormat.decode(key, value, pageBytes);
        } catch (CorruptionException | UnsupportedFormatException e) {
            log.error("chunks of a damaged page of a deleted snapshot stay stored: {}", e.getMessage());
            return null;
        }
    }

    private int hold(RecipePage page) throws IOException {
        for (int entry = 0; entry < page.count(); entry++) {
            long container = ChunkId.container(page.chunkId(entry));
            if (!page.isZero(entry) && held.add(container)) {
                hold(container);
            }
        }
        return page.count();
    }

    private void hold(long container) throws IOException {
        try {
            counts.hold(container);
        } catch (IOException e) {
            held.remove(container);
            // Otherwise the counts cannot be read, and what is freed is not counted there.
            NoAnswer.rethrow(e);
        }
    }

    /** Frees what was loaded; a change like any other. */
    public void free() throws IOException {
        for (Version version : versions) {
            RecipePage page = version.page;
            if (page != null) {
                counts.replace(page, RecipePage.EMPTY);
            }
            overlay.remove(Family.VERSION, version.key);
        }
        deaths.forEach(key -> overlay.remove(Family.DEATH, key));
        freed += versions.size();
        release();
    }

    private void release() {
        held.forEach(counts::release);
        held.clear();
        versions.clear();
        deaths.clear();
    }

    @Override
    public void close() {
        release();
    }
}
