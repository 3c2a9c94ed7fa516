package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongArrayList;
import com.carrotsearch.hppc.LongIntHashMap;
import com.sleepycat.je.Database;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;

/**
 * The system that the ChunkStash paper compares with, "Zhu08-BDB" (section 4.2; Zhu et al., FAST 2008): a Bloom filter
 * tells most new chunks; the fingerprints of the containers used last are in memory; other duplicates take a lookup in
 * BerkeleyDB and a read of their container's fingerprints from a log. The fingerprints of a sealed container are put
 * into BerkeleyDB one by one. The paper has the hash table of BerkeleyDB in C; this is the B-tree of its Java Edition,
 * which writes to a log. Nothing is transactional, as there. Exact. Not thread-safe.
 */
final class BerkeleyModel extends IndexModel {
    private static final int MAX_SLOTS = 4096;
    /** A smaller cache does not hold the path to one leaf beside its buffers. */
    private static final long LEAST_CACHE_BYTES = 1 << 20;

    private static final String FILTER = "filter";

    private final Path folder;
    private final ChunkFilter filter;
    private final ContainerLog log;
    private final Environment environment;
    private final Database database;
    /** The container of each fingerprint in memory, by its first 8 bytes; the open container among them. */
    private final LongIntHashMap near = new LongIntHashMap();
    /** The first 8 bytes of the fingerprints of each container in memory, the least recently used first. */
    private final Map<Integer, LongArrayList> cached = new LinkedHashMap<>(16, 0.75f, true);

    private final int cachedContainers;
    private LongArrayList openKeys = new LongArrayList();
    private final byte[] openEntries = new byte[MAX_SLOTS * ContainerLog.ENTRY_BYTES];
    private int openContainer;
    private int openBytes;
    private long lookups;

    /**
     * Opens an index, or makes one.
     *
     * @param memoryBytes memory of filter, cached containers and BerkeleyDB's cache together
     * @param chunks different chunks that the filter is made for; the same whenever it is opened
     * @param cachedContainers containers whose fingerprints are in memory, in addition to the open one
     */
    BerkeleyModel(Path folder, long memoryBytes, long chunks, int cachedContainers) throws IOException {
        this.folder = folder;
        this.cachedContainers = cachedContainers;
        filter = ChunkFilter.read(folder.resolve(FILTER), chunks);
        log = new ContainerLog(folder.resolve("containers"));
        openContainer = log.containers() + 1;
        long containerBytes =
                (cachedContainers + 1L) * StoredContainers.CONTAINER_BYTES / 8192 * ContainerLog.ENTRY_BYTES;
        EnvironmentConfig configuration = new EnvironmentConfig();
        configuration.setAllowCreate(true);
        configuration.setCacheSize(Math.max(LEAST_CACHE_BYTES, memoryBytes - filter.bytes() - containerBytes));
        configuration.setConfigParam(EnvironmentConfig.STATS_COLLECT, "false");
        // A leaf has up to 128 entries of some 60 bytes: one read returns it, where the usual size takes two.
        configuration.setConfigParam(EnvironmentConfig.LOG_FAULT_READ_SIZE, "16384");
        environment = new Environment(
                Files.createDirectories(folder.resolve("berkeley")).toFile(), configuration);
        database = environment.openDatabase(null, "chunks", new DatabaseConfig().setAllowCreate(true));
    }

    @Override
    void store(TraceSegment segment) throws IOException {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            long key = key(segment, chunk);
            int container = near.get(key);
            if (container != 0) {
                cached.get(container);
                found(segment.length(chunk));
            } else if (filter.mayHave(key) && isStored(segment.segment(), chunk)) {
                found(segment.length(chunk));
            } else {
                add(segment, chunk, key);
            }
        }
    }

    private boolean isStored(Segment segment, int chunk) throws IOException {
        lookups++;
        DatabaseEntry place = new DatabaseEntry();
        DatabaseEntry fingerprint =
                new DatabaseEntry(segment.fingerprints(), Segment.fingerprintOffset(chunk), Fingerprints.BYTES);
        if (database.get(null, fingerprint, place, LockMode.READ_UNCOMMITTED) != OperationStatus.SUCCESS) {
            return false;
        }
        load((int) (ByteBuffer.wrap(place.getData()).getLong() / MAX_SLOTS));
        return true;
    }

    /** Reads the fingerprints of a container into memory, instead of those that were not used for the longest time. */
    private void load(int container) throws IOException {
        ByteBuffer entries = log.read(container);
        read(entries.capacity());
        LongArrayList keys = new LongArrayList();
        for (int at = 0; at < entries.capacity(); at += ContainerLog.ENTRY_BYTES) {
            keys.add(entries.getLong(at));
        }
        cache(container, keys);
    }

    private void cache(int container, LongArrayList keys) {
        cached.put(container, keys);
        for (int i = 0; i < keys.size(); i++) {
            near.put(keys.get(i), container);
        }
        if (cached.size() > cachedContainers) {
            int eldest = cached.keySet().iterator().next();
            LongArrayList gone = cached.remove(eldest);
            for (int i = 0; i < gone.size(); i++) {
                near.remove(gone.get(i));
            }
        }
    }

    private static long key(TraceSegment segment, int chunk) {
        return ByteBuffer.wrap(segment.segment().fingerprints()).getLong(Segment.fingerprintOffset(chunk));
    }

    private void add(TraceSegment segment, int chunk, long key) throws IOException {
        if (openKeys.size() == MAX_SLOTS || openBytes + segment.length(chunk) > StoredContainers.CONTAINER_BYTES) {
            finish();
        }
        int slot = openKeys.size();
        ByteBuffer.wrap(openEntries)
                .position(slot * ContainerLog.ENTRY_BYTES)
                .put(segment.segment().fingerprints(), Segment.fingerprintOffset(chunk), Fingerprints.BYTES)
                .putLong((long) openContainer * MAX_SLOTS + slot);
        openKeys.add(key);
        openBytes += segment.length(chunk);
        near.put(key, openContainer);
        filter.add(key);
    }

    /** Seals the open container. */
    @Override
    void finish() throws IOException {
        if (openKeys.isEmpty()) {
            return;
        }
        log.append(openEntries, openKeys.size());
        for (int slot = 0; slot < openKeys.size(); slot++) {
            int at = slot * ContainerLog.ENTRY_BYTES;
            int place = at + Fingerprints.BYTES;
            database.put(
                    null,
                    new DatabaseEntry(Arrays.copyOfRange(openEntries, at, place)),
                    new DatabaseEntry(Arrays.copyOfRange(openEntries, place, place + Long.BYTES)));
        }
        cache(openContainer++, openKeys);
        openKeys = new LongArrayList();
        openBytes = 0;
    }

    /** Returns how many chunks were asked for in BerkeleyDB: those that the filter and the cache did not answer. */
    long lookups() {
        return lookups;
    }

    @Override
    long indexBytes() {
        return filter.bytes();
    }

    @Override
    long cacheBytes() {
        return (long) near.size() * ContainerLog.ENTRY_BYTES
                + environment.getConfig().getCacheSize();
    }

    @Override
    public void close() throws IOException {
        database.close();
        environment.close();
        log.close();
        filter.write(folder.resolve(FILTER));
    }
}
