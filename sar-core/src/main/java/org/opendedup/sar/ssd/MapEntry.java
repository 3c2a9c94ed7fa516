package org.opendedup.sar.ssd;

/** One entry of the {@link MapTable}, as passed to callers; reused for the next one. */
public final class MapEntry {
    /** Heat of a new entry, and of a candidate for one: it was requested once. */
    public static final int NEW_HEAT = 1;

    public long chunkId;
    /** Number of the segment file. */
    public int segment;
    /** Offset of the record in the segment file, in bytes. */
    public int offset;
    /** Bytes of the record, header and checksum included. */
    public int length;
    /** Known references to the chunk, at most 65535. */
    public int count;
    /** Disk time that a read of it from the SSD saves, in microseconds per KiB, at most 65535. */
    public int saving;
    /** Recent requests for it, 0 to 255. */
    public int heat;
}
