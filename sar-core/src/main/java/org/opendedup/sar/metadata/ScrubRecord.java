package org.opendedup.sar.metadata;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * How far a scrub is, and what it has found: kept in the metadata, so that it goes on where it was after a remount.
 *
 * @param beganMs when it began, in milliseconds since 1970
 * @param endedMs when it was complete, in milliseconds since 1970; 0 if it is not
 * @param held whether it was stopped on request, and does not go on by itself
 * @param pack number of the pack in which it goes on
 * @param offset byte in that pack from which it goes on
 * @param containers verified containers
 * @param bytes their bytes on the disk
 * @param chunks their chunks
 * @param damagedFrames frames that were not what was written
 * @param damagedContainers containers whose directory was damaged, or that were missing
 * @param contradictions containers about which the metadata said something else
 */
public record ScrubRecord(
        long beganMs,
        long endedMs,
        boolean held,
        long pack,
        long offset,
        long containers,
        long bytes,
        long chunks,
        long damagedFrames,
        long damagedContainers,
        long contradictions) {
    private static final int VERSION = 1;

    byte[] encode() {
        return new ValueWriter(64)
                .writeByte(VERSION)
                .writeZigzag(beganMs)
                .writeZigzag(endedMs)
                .writeByte(held ? 1 : 0)
                .writeVarint(pack)
                .writeVarint(offset)
                .writeVarint(containers)
                .writeVarint(bytes)
                .writeVarint(chunks)
                .writeVarint(damagedFrames)
                .writeVarint(damagedContainers)
                .writeVarint(contradictions)
                .toBytes();
    }

    static ScrubRecord decode(byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "record of a scrub, format", VERSION).expectVersion(VERSION);
        ScrubRecord record = new ScrubRecord(
                in.readZigzag(),
                in.readZigzag(),
                in.readVarint(1) == 1,
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE),
                in.readVarint(Long.MAX_VALUE));
        in.expectEnd();
        return record;
    }

    public boolean isComplete() {
        return endedMs != 0;
    }

    /** Returns whether nothing was found. */
    public boolean isClean() {
        return damagedFrames == 0 && damagedContainers == 0 && contradictions == 0;
    }

    /** Returns this record of a scrub that does not go on by itself. */
    public ScrubRecord hold() {
        return new ScrubRecord(
                beganMs,
                endedMs,
                true,
                pack,
                offset,
                containers,
                bytes,
                chunks,
                damagedFrames,
                damagedContainers,
                contradictions);
    }
}
