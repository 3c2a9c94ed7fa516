package org.opendedup.sar.ssd;

/** One line of the {@link MapTable}, as it is handed out: filled again for the next one. */
public final class MapEntry {
    /** Of an entry that was just written, and of a candidate for one: it was wanted once. */
    public static final int NEW_HEAT = 1;

    public long chunkId;
    /** Number of the segment file. */
    public int segment;
    /** Offset of the record in it. */
    public int offset;
    /** Bytes of the record, header and checksum included. */
    public int length;
    /** References to the chunk, as far as known, at most 65535. */
    public int count;
    /** What a read of it from the SSD saves the disk, in microseconds for each KiB, at most 65535. */
    public int saving;
    /** How often it was wanted lately, 0 to 255. */
    public int heat;
}
