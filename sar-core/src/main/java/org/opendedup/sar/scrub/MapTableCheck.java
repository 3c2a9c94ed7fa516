package org.opendedup.sar.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.hot.SsdAudit;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.ssd.LogCopies;

/**
 * Compares the SSD's Map table with the containers, while the volume is in use: each entry names a chunk that is
 * stored. Reads no copy and changes nothing. For use by one thread.
 */
public final class MapTableCheck {
    private static final String STAGE = "entries of the Map table";
    /** Entries that are named; the others are only counted. */
    private static final int MOST_NAMED = 10;

    /**
     * What was found.
     *
     * @param copies number of entries
     * @param nowhere entries that name a chunk that is not stored
     * @param named some of these, as sentences without a full stop
     * @param notChecked why not all entries were compared; null if they were
     */
    public record Report(
            long copies,
            long nowhere,
            List<String> named,
            @Nullable String notChecked) {}

    private final SsdAudit audit;
    private final Directories directories;
    private final Progress progress;
    private final List<String> named = new ArrayList<>();
    private long copies;
    private long nowhere;

    /** @param progress called with the number of entries compared */
    public MapTableCheck(SsdAudit audit, Scrubber.Parts parts, Progress progress) {
        this.audit = audit;
        this.progress = progress;
        directories = new Directories(parts);
    }

    /**
     * Compares all entries. Says so in the report if the SSD is not in use.
     *
     * @throws InterruptedIOException if {@code progress} stopped it
     */
    public Report run() throws IOException {
        String notChecked = null;
        try {
            int segment = 0;
            long offset = 0;
            for (LogCopies some = from(segment, offset); some.count() > 0; some = from(segment, offset)) {
                compare(some, segment, offset);
                int last = some.count() - 1;
                segment = some.segment(last);
                offset = some.offset(last) + 1L;
            }
        } catch (PartUnusable e) {
            notChecked = e.why();
        }
        return new Report(copies, nowhere, List.copyOf(named), notChecked);
    }

    private LogCopies from(int segment, long offset) throws PartUnusable {
        return PartUnusable.get(() -> audit.copiesFrom(segment, offset));
    }

    private void compare(LogCopies some, int segment, long offset) throws IOException, PartUnusable {
        Map<Long, ContainerCounts> counts = new HashMap<>();
        List<Integer> suspects = new ArrayList<>();
        for (int i = 0; i < some.count(); i++) {
            progress.at(STAGE, copies, copies);
            copies++;
            long container = ChunkId.container(some.chunkId(i));
            ContainerCounts of = counts.get(container);
            if (of == null) {
                of = directories.counts(container);
                counts.put(container, of);
            }
            if (!of.isAlive(ChunkId.slot(some.chunkId(i)))) {
                suspects.add(i);
            }
        }
        if (!suspects.isEmpty()) {
            confirm(some, suspects, from(segment, offset));
        }
    }

    /** Counts the suspects that are still in the table: chunk and copy may have been removed meanwhile. */
    private void confirm(LogCopies some, List<Integer> suspects, LogCopies now) throws IOException {
        Map<Long, Long> places = new HashMap<>();
        for (int i = 0; i < now.count(); i++) {
            places.put(now.chunkId(i), place(now, i));
        }
        for (int i : suspects) {
            long chunk = some.chunkId(i);
            Long place = places.get(chunk);
            if (place == null
                    || place != place(some, i)
                    || directories.counts(ChunkId.container(chunk)).isAlive(ChunkId.slot(chunk))) {
                continue;
            }
            nowhere++;
            if (named.size() < MOST_NAMED) {
                named.add("a copy of chunk " + ChunkId.toString(chunk) + ", which is not stored");
            }
        }
    }

    private static long place(LogCopies copies, int i) {
        return (long) copies.segment(i) << Integer.SIZE | copies.offset(i);
    }
}
