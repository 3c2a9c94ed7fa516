package org.opendedup.sdfs.filestore;

import java.io.IOException;
import org.opendedup.collections.DataArchivedException;
import org.opendedup.collections.InsertRecord;
import org.w3c.dom.Element;

/** The chunk store of an SDFS volume. */
public interface AbstractChunkStore {
    void init(Element config) throws IOException;

    InsertRecord writeChunk(byte[] hash, byte[] chunk, int len, String uuid) throws IOException;

    byte[] getChunk(byte[] hash, long start, int len) throws IOException, DataArchivedException;

    void cacheData(long start) throws IOException, DataArchivedException;

    void deleteChunk(byte[] hash, long start, int len) throws IOException;

    void deleteDuplicate(byte[] hash, long start, int len) throws IOException;

    void iterationInit(boolean getchunks) throws IOException;

    ChunkData getNextChunck() throws IOException;

    void sync() throws IOException;

    void close();

    void deleteStore();

    void compact();

    String getName();

    void setName(String name);

    long size();

    long compressedSize();

    long maxSize();

    long getFreeBlocks();

    long bytesRead();

    long bytesWritten();

    void clearCounters();

    int getReadSpeed();

    int getWriteSpeed();

    void setReadSpeed(int kbps);

    void setWriteSpeed(int kbps);

    long getCacheSize();

    long getMaxCacheSize();

    void setCacheSize(long sz) throws IOException;

    void setDseSize(long sz);

    String restoreBlock(long id, byte[] hash) throws IOException;

    boolean blockRestored(String id);

    long getAllObjSummary(String pp, long id) throws IOException;

    boolean get_move_blob();

    void set_move_blob(boolean status);
}
