package org.opendedup.sar.plugin;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.collections.InsertRecord;
import org.opendedup.sdfs.filestore.AbstractChunkStore;
import org.opendedup.sdfs.filestore.ChunkData;
import org.w3c.dom.Element;

/**
 * The chunk store of an SDFS volume on the engine of SAR: {@code chunkstore-class} on {@code <local-chunkstore>}. Works
 * only together with {@link SarHashesMap}. Safe for use by many threads.
 */
public final class SarChunkStore implements AbstractChunkStore {
    private static final Logger log = System.getLogger(SarChunkStore.class.getName());

    /** Held shared by calls of the engine, exclusively to close it. */
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    private @Nullable PluginEngine engine;
    private volatile String name = "sar";
    private volatile int readSpeed;
    private volatile int writeSpeed;
    private volatile long cacheBytes;
    private volatile boolean movesBlobs;
    private volatile long readBefore;
    private volatile long writtenBefore;
    private PluginEngine.@Nullable Chunks walk;

    /** SDFS makes one by the name of the class. */
    public SarChunkStore() {}

    /** A use of the engine. */
    interface Use<T> {
        T use(PluginEngine engine) throws IOException;
    }

    /** Uses the engine, which stays open meanwhile. */
    <T> T with(Use<T> use) throws IOException {
        lock.readLock().lock();
        try {
            PluginEngine open = engine;
            if (open == null) {
                throw new IOException("the chunk store of SAR is not open");
            }
            return use.use(open);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** As {@link #with}, for callers that may not fail; returns {@code otherwise} if the store is not open. */
    private long figure(Use<Long> use, long otherwise) {
        try {
            return with(use);
        } catch (IOException e) {
            return otherwise;
        }
    }

    @Override
    public void init(Element config) throws IOException {
        lock.writeLock().lock();
        try {
            if (engine != null) {
                throw new IOException("the chunk store of SAR is open already");
            }
            engine = EngineLoader.opener().open(Settings.of(config));
        } finally {
            lock.writeLock().unlock();
        }
        OpenStores.opened(this);
    }

    @Override
    public void close() {
        OpenStores.closed(this);
        lock.writeLock().lock();
        try {
            PluginEngine open = engine;
            engine = null;
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            log.log(Level.ERROR, "the chunk store of SAR could not make everything durable when it was closed", e);
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Deletes all chunks, with counts and index. The store is closed by it. */
    @Override
    public void deleteStore() {
        PluginEngine open;
        lock.readLock().lock();
        try {
            open = engine;
        } finally {
            lock.readLock().unlock();
        }
        close();
        try {
            if (open != null) {
                open.delete();
            }
        } catch (IOException e) {
            log.log(Level.ERROR, "the chunk store of SAR could not be deleted", e);
        }
    }

    /** Stores a chunk without a reference, unless it is stored. {@link SarHashesMap#put} adds references as well. */
    @Override
    public InsertRecord writeChunk(byte[] hash, byte[] chunk, int len, @Nullable String uuid) throws IOException {
        return with(open -> put(open, hash, chunk, len, 0, uuid));
    }

    static InsertRecord put(
            PluginEngine engine, byte[] hash, byte[] chunk, int length, int references, @Nullable String uuid)
            throws IOException {
        long[] location = new long[1];
        boolean isNew = engine.put(hash, chunk, length, references, stream(uuid), location);
        return new InsertRecord(isNew, location[0], isNew ? length : 0);
    }

    /** Returns the number of the stream that a file's name stands for. */
    private static long stream(@Nullable String uuid) {
        long number = 1;
        for (int i = 0; uuid != null && i < uuid.length(); i++) {
            number = number * 0x100000001B3L ^ uuid.charAt(i);
        }
        return number == Long.MIN_VALUE ? 0 : number;
    }

    @Override
    public byte[] getChunk(byte[] hash, long start, int len) throws IOException {
        return with(open -> read(open, hash, start));
    }

    static byte[] read(PluginEngine engine, byte[] hash, long location) throws IOException {
        byte[] chunk = engine.get(hash, location);
        if (chunk == null) {
            throw new IOException("a chunk is not stored, at location " + location + " or elsewhere");
        }
        return chunk;
    }

    @Override
    public void cacheData(long start) throws IOException {
        with(open -> {
            open.expectRead(start);
            return true;
        });
    }

    /** Does nothing: the collector removes what has had no reference for the grace period. */
    @Override
    public void deleteChunk(byte[] hash, long start, int len) {}

    /** Does nothing: no content is stored twice. */
    @Override
    public void deleteDuplicate(byte[] hash, long start, int len) {}

    @Override
    public void sync() throws IOException {
        with(open -> {
            open.sync();
            return true;
        });
    }

    @Override
    public synchronized void iterationInit(boolean getchunks) throws IOException {
        walk = with(PluginEngine::chunks);
    }

    /** Returns the next chunk of the walk; null after the last one. Its bytes are not read. */
    @Override
    public synchronized @Nullable ChunkData getNextChunck() throws IOException {
        PluginEngine.Chunks chunks = walk;
        return chunks != null && with(open -> chunks.next())
                ? new ChunkData(chunks.fingerprint(), chunks.location())
                : null;
    }

    /** Does nothing: {@link SarHashesMap#claimRecords} collects. */
    @Override
    public void compact() {}

    @Override
    public String getName() {
        return name;
    }

    @Override
    public void setName(String name) {
        this.name = name;
    }

    /** Returns the bytes of all chunks before compression. */
    @Override
    public long size() {
        return figure(open -> open.figures().chunkBytes(), 0);
    }

    /** Returns the bytes on the disk. */
    @Override
    public long compressedSize() {
        return figure(open -> open.figures().containerBytes(), 0);
    }

    @Override
    public long maxSize() {
        return figure(open -> open.figures().capacityBytes(), 0);
    }

    @Override
    public long getFreeBlocks() {
        return 0;
    }

    @Override
    public long bytesRead() {
        return figure(open -> open.figures().readBytes() - readBefore, 0);
    }

    @Override
    public long bytesWritten() {
        return figure(open -> open.figures().writtenBytes() - writtenBefore, 0);
    }

    @Override
    public void clearCounters() {
        readBefore = figure(open -> open.figures().readBytes(), 0);
        writtenBefore = figure(open -> open.figures().writtenBytes(), 0);
    }

    /** Returns what was set; there is no limit of speed. */
    @Override
    public int getReadSpeed() {
        return readSpeed;
    }

    @Override
    public int getWriteSpeed() {
        return writeSpeed;
    }

    @Override
    public void setReadSpeed(int kbps) {
        readSpeed = kbps;
    }

    @Override
    public void setWriteSpeed(int kbps) {
        writeSpeed = kbps;
    }

    /** Returns what was set; the memory is that of {@code sar-memory-budget}. */
    @Override
    public long getCacheSize() {
        return cacheBytes;
    }

    @Override
    public long getMaxCacheSize() {
        return cacheBytes;
    }

    @Override
    public void setCacheSize(long sz) {
        cacheBytes = sz;
    }

    @Override
    public void setDseSize(long sz) {}

    /** Returns null: nothing is in an archive. */
    @Override
    public @Nullable String restoreBlock(long id, byte[] hash) {
        return null;
    }

    @Override
    public boolean blockRestored(String id) {
        return true;
    }

    @Override
    public long getAllObjSummary(String pp, long id) {
        return 0;
    }

    @Override
    public boolean get_move_blob() {
        return movesBlobs;
    }

    @Override
    public void set_move_blob(boolean status) {
        movesBlobs = status;
    }
}
