package org.opendedup.sdfs.filestore;

import java.io.IOException;
import org.opendedup.collections.DataArchivedException;
import org.opendedup.collections.InsertRecord;

/** A chunk on its way into the index, or out of a chunk store. */
public class ChunkData {
    /** References to add; -1 if that was not set. */
    public long references = -1;
    /** Names the file that is written. */
    public String uuid;

    private final byte[] hash;
    private final byte[] chunk;
    private final int length;
    private long position = -1;

    public ChunkData(byte[] hash, int chunkLen, byte[] chunk, String uuid) {
        this.hash = hash;
        this.chunk = chunk;
        length = chunkLen;
        this.uuid = uuid;
    }

    public ChunkData(byte[] hash, long pos) {
        this(hash, 0, null, null);
        position = pos;
    }

    public byte[] getHash() {
        return hash;
    }

    public byte[] getData() throws IOException, DataArchivedException {
        return chunk;
    }

    public int getcLen() {
        return length;
    }

    public long getcPos() {
        return position;
    }

    public void setcPos(long cPos) {
        position = cPos;
    }

    public InsertRecord persistData(boolean clear) throws IOException {
        throw new IOException("a declaration stores nothing");
    }
}
