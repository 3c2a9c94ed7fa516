package org.opendedup.sar.plugin;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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

    private final OpenEngine engine = new OpenEngine();
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

    /** Uses the engine; for tests. */
    <T> T with(OpenEngine.Use<T> use) throws IOException {
        return engine.with(use);
    }

    @Override
    public void init(Element config) throws IOException {
        HostLog.use();
        HostFit.require(SarChunkStore.class, SarHashesMap.class);
        cacheBytes = HostCache.bytes(config);
        engine.open(config);
        OpenStores.opened(engine);
    }

    @Override
    public void close() {
        closeEngine();
    }

    /** Nothing may be thrown here: SDFS would leave its shutdown there, and its process would go on without a mount. */
    private @Nullable PluginEngine closeEngine() {
        OpenStores.closed(engine);
        try {
            return engine.closed();
        } catch (IOException | RuntimeException | LinkageError e) {
            log.log(Level.ERROR, "the chunk store of SAR could not make everything durable when it was closed", e);
            return null;
        }
    }

    /** Deletes all chunks, with counts and index. The store is closed by it. */
    @Override
    public void deleteStore() {
        PluginEngine closed = closeEngine();
        try {
            if (closed != null) {
                closed.delete();
            }
        } catch (IOException e) {
            log.log(Level.ERROR, "the chunk store of SAR could not be deleted", e);
        }
    }

    /** Stores a chunk without a reference, unless it is stored. {@link SarHashesMap#put} adds references as well. */
    @Override
    public InsertRecord writeChunk(byte[] hash, byte[] chunk, int len, @Nullable String uuid) throws IOException {
        return engine.put(hash, chunk, len, 0, uuid);
    }

    @Override
    public byte[] getChunk(byte[] hash, long start, int len) throws IOException {
        return engine.get(hash, start);
    }

    @Override
    public void cacheData(long start) throws IOException {
        engine.expectRead(start);
    }

    /** Does nothing: the collector removes what has had no reference for the grace period. */
    @Override
    public void deleteChunk(byte[] hash, long start, int len) {}

    /** Does nothing: no content is stored twice. */
    @Override
    public void deleteDuplicate(byte[] hash, long start, int len) {}

    @Override
    public void sync() throws IOException {
        engine.sync();
    }

    @Override
    public synchronized void iterationInit(boolean getchunks) throws IOException {
        walk = engine.with(PluginEngine::chunks);
    }

    /** Returns the next chunk of the walk; null after the last one. Its bytes are not read. */
    @Override
    public synchronized @Nullable ChunkData getNextChunck() throws IOException {
        PluginEngine.Chunks chunks = walk;
        return chunks != null && engine.with(open -> chunks.next())
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
        return engine.figure(open -> open.figures().chunkBytes(), 0);
    }

    /** Returns the bytes on the disk. */
    @Override
    public long compressedSize() {
        return engine.figure(open -> open.figures().containerBytes(), 0);
    }

    @Override
    public long maxSize() {
        return engine.figure(open -> open.figures().capacityBytes(), 0);
    }

    @Override
    public long getFreeBlocks() {
        return 0;
    }

    @Override
    public long bytesRead() {
        return engine.figure(open -> open.figures().readBytes() - readBefore, 0);
    }

    @Override
    public long bytesWritten() {
        return engine.figure(open -> open.figures().writtenBytes() - writtenBefore, 0);
    }

    @Override
    public void clearCounters() {
        readBefore = engine.figure(open -> open.figures().readBytes(), 0);
        writtenBefore = engine.figure(open -> open.figures().writtenBytes(), 0);
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
