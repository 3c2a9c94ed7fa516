package org.opendedup.sar.plugin;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.opendedup.collections.AbstractHashesMap;
import org.opendedup.collections.DataArchivedException;
import org.opendedup.collections.HashtableFullException;
import org.opendedup.collections.InsertRecord;
import org.opendedup.collections.KeyNotFoundException;
import org.opendedup.sdfs.filestore.ChunkData;
import org.opendedup.sdfs.notification.SDFSEvent;

/**
 * The fingerprint index of an SDFS volume on the engine of SAR: {@code hashdb-class} on {@code <local-chunkstore>}.
 * Works only together with {@link SarChunkStore}, whose engine it uses. Safe for use by many threads.
 */
public final class SarHashesMap implements AbstractHashesMap {
    /** Bytes of a chunk, for the number of entries that SDFS shows: its variable chunks are 4 to 32 KiB. */
    private static final int MEAN_CHUNK_BYTES = 8192;

    private @Nullable OpenEngine engine;
    private volatile long maxEntries;

    /** SDFS makes one by the name of the class. */
    public SarHashesMap() {}

    @Override
    public synchronized void init(long maxSize, String fileName, double fpp) throws IOException {
        engine = OpenStores.last();
        maxEntries = maxSize;
    }

    private synchronized OpenEngine engine() throws IOException {
        OpenEngine found = engine;
        if (found == null) {
            throw new IOException("the index of SAR is not open");
        }
        return found;
    }

    @Override
    public InsertRecord put(ChunkData cm) throws IOException, HashtableFullException {
        return put(cm, true);
    }

    /** Counts a chunk and stores it if it is new, whatever {@code persist} says: what is counted is stored. */
    @Override
    public InsertRecord put(ChunkData cm, boolean persist) throws IOException, HashtableFullException {
        int references = (int) Math.min(Integer.MAX_VALUE, Math.max(1, cm.references));
        try {
            byte[] data = cm.getData();
            int length = cm.getcLen() > 0 ? Math.min(cm.getcLen(), data.length) : data.length;
            InsertRecord put = engine().put(cm.getHash(), data, length, references, cm.uuid);
            cm.setcPos(ByteBuffer.wrap(put.getHashLocs()).getLong());
            return put;
        } catch (PluginEngine.NoRoomException e) {
            HashtableFullException full = new HashtableFullException(String.valueOf(e.getMessage()));
            full.initCause(e);
            throw full;
        } catch (DataArchivedException e) {
            throw new IOException("the bytes of a new chunk cannot be read", e);
        }
    }

    @Override
    public long get(byte[] key) throws IOException {
        return engine().with(open -> open.find(key));
    }

    @Override
    public boolean containsKey(byte[] key) throws IOException {
        return get(key) != PluginEngine.NOT_FOUND;
    }

    @Override
    public boolean mightContainKey(byte[] key, long id) {
        try {
            return containsKey(key);
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public byte[] getData(byte[] key) throws IOException {
        return getData(key, PluginEngine.NOT_FOUND);
    }

    @Override
    public byte[] getData(byte[] key, long pos) throws IOException {
        return engine().get(key, pos);
    }

    @Override
    public void cache(long pos) throws IOException {
        engine().expectRead(pos);
    }

    @Override
    public long claimKey(byte[] hash, long val, long ct) throws IOException {
        return engine().with(open -> open.claim(hash, val, ct));
    }

    /**
     * Collects what has had no reference for the grace period; returns the number of chunks that are gone.
     *
     * @param compact whether to remove all of it; else the last 3 % of garbage stay, because they cost most
     */
    @Override
    public long claimRecords(@Nullable SDFSEvent evt, boolean compact) throws IOException {
        OpenEngine shared = engine();
        return shared.with(open -> {
            long[] before = new long[1];
            return open.collect(compact, (done, of) -> {
                if (evt != null) {
                    evt.setMaxCount(Math.max(1, of));
                    evt.addCount(done - before[0]);
                    before[0] = done;
                }
                return shared.goesOn();
            });
        });
    }

    /** Returns whether a chunk is stored: its location never changes. */
    @Override
    public boolean update(ChunkData cm) throws IOException {
        return containsKey(cm.getHash());
    }

    /** Returns whether a chunk has no reference: the collector removes it after the grace period. */
    @Override
    public boolean remove(ChunkData cm) throws IOException {
        return engine().with(open -> {
            long location = open.find(cm.getHash());
            return location != PluginEngine.NOT_FOUND && open.references(location) == 0;
        });
    }

    @Override
    public boolean isClaimed(ChunkData cm) throws KeyNotFoundException, IOException {
        long references = engine().with(open -> {
            long location = open.find(cm.getHash());
            return location == PluginEngine.NOT_FOUND ? PluginEngine.NOT_FOUND : (long) open.references(location);
        });
        if (references == PluginEngine.NOT_FOUND) {
            throw new KeyNotFoundException();
        }
        return references > 0;
    }

    /** Does nothing: the counts are in the engine. */
    @Override
    public void clearRefMap() {}

    @Override
    public void initCompact() {}

    @Override
    public void commitCompact(boolean force) {}

    @Override
    public void rollbackCompact() {}

    @Override
    public long endStartingPosition() {
        return 0;
    }

    /** Returns the number of chunks. */
    @Override
    public long getSize() {
        return figure(PluginEngine.Figures::chunks);
    }

    /** Returns the number of chunks. */
    @Override
    public long getUsedSize() {
        return getSize();
    }

    @Override
    public long getMaxSize() {
        long configured = maxEntries;
        return configured > 0 ? configured : figure(PluginEngine.Figures::capacityBytes) / MEAN_CHUNK_BYTES;
    }

    /** The engine has no bound on the number of chunks; what is set is shown. */
    @Override
    public void setMaxSize(long sz) {
        maxEntries = sz;
    }

    private long figure(ToLongFunction<PluginEngine.Figures> figure) {
        try {
            return engine().with(open -> figure.applyAsLong(open.figures()));
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public void sync() throws IOException {
        engine().sync();
    }

    /** Does nothing: the store, which SDFS closes first, closes the engine. */
    @Override
    public void close() {}
}
