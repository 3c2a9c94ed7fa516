package org.opendedup.sar.ssd;

import java.io.IOException;
import java.util.function.Consumer;

/**
 * Iterates over the records of a segment file by their headers, to rebuild the Map table. Stops at the first place
 * where no record begins: data of a user after it could look like a record. Records are checked when they are read.
 */
final class SegmentScanner {
    private static final int WINDOW_BYTES = 64 << 10;

    private final byte[] window = new byte[WINDOW_BYTES];
    private final MapEntry entry = new MapEntry();

    /** Passes an entry for each record to the visitor, with one reference; it is valid during the call only. */
    void scan(SegmentFile segment, Consumer<MapEntry> visitor) throws IOException {
        long end = segment.length();
        long windowStart = 0;
        int windowBytes = 0;
        long at = SegmentFile.HEADER_BYTES;
        while (end - at >= RecordHeader.BYTES) {
            if (at + RecordHeader.BYTES > windowStart + windowBytes) {
                windowStart = at;
                windowBytes = (int) Math.min(WINDOW_BYTES, end - at);
                segment.read(windowStart, window, windowBytes);
            }
            int inWindow = (int) (at - windowStart);
            int length = segment.seal().lengthAt(window, inWindow, end - at);
            if (length == 0) {
                return;
            }
            entry.chunkId = RecordHeader.chunkIdAt(window, inWindow);
            entry.segment = segment.number();
            entry.offset = (int) at;
            entry.length = length;
            entry.count = 1;
            entry.saving = RecordHeader.savingAt(window, inWindow);
            entry.heat = 0;
            visitor.accept(entry);
            at += length;
        }
    }
}
