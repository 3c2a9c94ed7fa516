package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * How far a scrub is, and what it has found: kept in the metadata, so that it goes on where it was after a remount.
 *
 * @param beganMs when it began, in milliseconds since 1970
 * @param endedMs when it was complete, in milliseconds since 1970; 0 if it is not
 * @param held whether it was stopped on request, and does not go on by itself
 * @param next where it goes on
 */
public record ScrubRecord(long beganMs, long endedMs, boolean held, ScrubCursor next, ScrubTotals totals) {
    private static final int VERSION = 2;

    public byte[] encode() {
        ValueWriter out = new ValueWriter(64)
                .writeByte(VERSION)
                .writeZigzag(beganMs)
                .writeZigzag(endedMs)
                .writeByte(held ? 1 : 0)
                .writeByte(next.phase().code())
                .writeVarint(next.file())
                .writeVarint(next.offset());
        totals.encode(out);
        return out.toBytes();
    }

    public static ScrubRecord decode(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "record of a scrub, format", VERSION).expectVersion(VERSION);
        long began = in.readZigzag();
        long ended = in.readZigzag();
        boolean held = in.readVarint(1) == 1;
        ScrubPhase phase = ScrubPhase.of(in.readVarint(Byte.MAX_VALUE));
        ScrubCursor next = new ScrubCursor(phase, in.readVarint(Long.MAX_VALUE), in.readVarint(Long.MAX_VALUE));
        ScrubRecord record = new ScrubRecord(began, ended, held, next, ScrubTotals.decode(in));
        in.expectEnd();
        return record;
    }

    public boolean isComplete() {
        return endedMs != 0;
    }

    /** Returns this record of a scrub that does not go on by itself. */
    public ScrubRecord hold() {
        return new ScrubRecord(beganMs, endedMs, true, next, totals);
    }
}
