package org.opendedup.sar.ssd;

import java.io.IOException;
import java.util.function.Consumer;

/**
 * Walks over the records of a segment file by their headers, to make the Map table anew. It stops at the first place where no record
 * begins: what is behind it could be somebody's data that looks like one. Records are checked when they are read.
 */
final class SegmentScanner {
    private static final int WINDOW_BYTES = 64 << 10;

    private final byte[] window = new byte[WINDOW_BYTES];
    private final MapEntry entry = new MapEntry();

    /** Shows an entry for each record, with one reference and no saving; it is valid during the call only. */
    void scan(SegmentFile segment, Consumer<MapEntry> visitor) throws IOException {
        long end = segment.length();
        long windowStart = 0;
        int windowBytes = 0;
        long at = SegmentFile.HEADER_BYTES;
        while (end - at >= RecordFormat.HEADER_BYTES) {
            if (at + RecordFormat.HEADER_BYTES > windowStart + windowBytes) {
                windowStart = at;
                windowBytes = (int) Math.min(WINDOW_BYTES, end - at);
                segment.read(windowStart, window, windowBytes);
            }
            int inWindow = (int) (at - windowStart);
            int length = RecordFormat.lengthAt(window, inWindow, end - at);
            if (length == 0) {
                return;
            }
            entry.chunkId = RecordFormat.chunkIdAt(window, inWindow);
            entry.segment = segment.number();
            entry.offset = (int) at;
            entry.length = length;
            entry.count = 1;
            entry.saving = 0;
            entry.heat = 0;
            visitor.accept(entry);
            at += length;
        }
    }
}
