package org.opendedup.collections;

import java.nio.ByteBuffer;

/** Where a chunk is, and whether it was stored by the call that returns this. */
public class InsertRecord {
    private final boolean inserted;
    private final byte[] location;
    private final int storedLength;

    public InsertRecord(boolean inserted, long pos, int compressedLen) {
        this.inserted = inserted;
        location = ByteBuffer.allocate(Long.BYTES).putLong(pos).array();
        storedLength = compressedLen;
    }

    public boolean getInserted() {
        return inserted;
    }

    /** Returns the location as eight bytes, the highest first. */
    public byte[] getHashLocs() {
        return location;
    }

    public int getCompressedLength() {
        return storedLength;
    }
}
