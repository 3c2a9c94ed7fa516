package org.opendedup.sar.tier;

/** One line of the {@link MapTable}, as it is handed out: filled again for the next one. */
public final class MapEntry {
    public long chunkId;
    /** Number of the segment file. */
    public int segment;
    /** Offset of the record in it. */
    public int offset;
    /** Bytes of the record, header and checksum included. */
    public int length;
    /** References to the chunk, as far as known, at most 65535. */
    public int count;
    /** See {@link DiskCost#saving}. */
    public int saving;
    /** How often it was wanted lately, 0 to 255. */
    public int heat;
}
