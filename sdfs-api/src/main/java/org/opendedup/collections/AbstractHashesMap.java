package org.opendedup.collections;

import java.io.IOException;
import org.opendedup.sdfs.filestore.ChunkData;
import org.opendedup.sdfs.notification.SDFSEvent;

/** The fingerprint index of an SDFS volume. */
public interface AbstractHashesMap {
    void init(long maxSize, String fileName, double fpp) throws IOException, HashtableFullException;

    InsertRecord put(ChunkData cm) throws IOException, HashtableFullException;

    InsertRecord put(ChunkData cm, boolean persist) throws IOException, HashtableFullException;

    boolean update(ChunkData cm) throws IOException;

    boolean remove(ChunkData cm) throws IOException;

    boolean isClaimed(ChunkData cm) throws KeyNotFoundException, IOException;

    long get(byte[] key) throws IOException;

    byte[] getData(byte[] key) throws IOException, DataArchivedException;

    byte[] getData(byte[] key, long pos) throws IOException, DataArchivedException;

    void cache(long pos) throws IOException, DataArchivedException;

    long claimKey(byte[] hash, long val, long ct) throws IOException;

    long claimRecords(SDFSEvent evt, boolean compact) throws IOException;

    boolean mightContainKey(byte[] key, long id);

    boolean containsKey(byte[] key) throws IOException;

    void clearRefMap() throws IOException;

    void initCompact() throws IOException;

    void commitCompact(boolean force) throws IOException;

    void rollbackCompact() throws IOException;

    long endStartingPosition();

    long getSize();

    long getUsedSize();

    long getMaxSize();

    void setMaxSize(long sz) throws IOException;

    void sync() throws IOException;

    void close();
}
