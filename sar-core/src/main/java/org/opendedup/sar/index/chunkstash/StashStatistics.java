package org.opendedup.sar.index.chunkstash;

import java.io.IOException;

/**
 * What a ChunkStash index has done and holds; for measurements and tests.
 *
 * @param reads reads of the log by lookups
 * @param readBytes bytes of these
 * @param falseReads those of entries whose signature matched and whose fingerprint did not
 * @param relocations entries of the table that insertions moved
 * @param auxiliary entries of the table that found no slot
 * @param tableEntries entries of the table
 * @param tableBytes memory of the table
 * @param frameBytes memory of the pages in memory
 * @param logBytes length of the log
 * @param appendedBytes bytes that were appended to it since it was opened
 * @param interval entries of a page for each one in the table
 * @param moves segments that were moved to the disk index
 */
public record StashStatistics(
        long reads,
        long readBytes,
        long falseReads,
        long relocations,
        int auxiliary,
        long tableEntries,
        long tableBytes,
        long frameBytes,
        long logBytes,
        long appendedBytes,
        int interval,
        long moves) {
    static StashStatistics of(StashState state, StashCounters counters) throws IOException {
        return new StashStatistics(
                counters.reads(),
                counters.readBytes(),
                counters.falseReads(),
                state.table().relocations(),
                state.table().auxiliarySize(),
                state.table().size(),
                state.table().memoryBytes(),
                state.frames.memoryBytes(),
                state.records.length(),
                state.records.appendedBytes(),
                state.interval(),
                state.moves);
    }
}
