package org.opendedup.sar.ingest;

import com.carrotsearch.hppc.IntObjectHashMap;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ForwardingChunkIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The index of an encrypted volume as writers use it. An entry of an index is not authenticated: whoever can write to
 * its disk could make new data refer to a chunk of his. So a hint counts only if the list of its container, which is
 * sealed, has the fingerprint; of a container that is being written, if this process has put the chunk there. Other
 * hints are dropped, and the chunk is stored again. Safe for several threads.
 */
public final class ProvenHints extends ForwardingChunkIndex {
    private static final Logger log = LoggerFactory.getLogger(ProvenHints.class);

    private final Lists lists;
    private final Cache<Long, byte[]> cache;

    /** Fingerprints by slot, of the containers that are not sealed yet. */
    private final Map<Long, IntObjectHashMap<byte[]>> open = new ConcurrentHashMap<>();

    /** The sealed lists of containers. */
    @FunctionalInterface
    public interface Lists {
        /**
         * Returns the fingerprints of all slots of a sealed container, one after another.
         *
         * @throws IOException if there is no such container, or its list cannot be read or was changed
         */
        byte[] fingerprints(long container) throws IOException;
    }

    /** @param cacheBytes bytes of lists that are kept */
    public ProvenHints(ChunkIndex index, Lists lists, long cacheBytes) {
        super(index);
        this.lists = lists;
        cache = CacheBuilder.newBuilder()
                .maximumWeight(cacheBytes)
                .<Long, byte[]>weigher((container, fingerprints) -> fingerprints.length)
                .concurrencyLevel(1)
                .build();
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        super.lookup(segment);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            long hint = segment.hint(chunk);
            if (!segment.isZero(chunk)
                    && hint != ChunkId.NONE
                    && !isProven(hint, segment.fingerprints(), Segment.fingerprintOffset(chunk))) {
                segment.setHint(chunk, ChunkId.NONE);
            }
        }
    }

    private boolean isProven(long chunkId, byte[] fingerprints, int offset) {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        IntObjectHashMap<byte[]> own = open.get(container);
        byte[] put = own == null ? null : get(own, slot);
        if (put != null) {
            return isEqual(put, 0, fingerprints, offset);
        }
        byte[] list = list(container);
        int at = slot * Fingerprints.BYTES;
        return list != null && at + Fingerprints.BYTES <= list.length && isEqual(list, at, fingerprints, offset);
    }

    private static byte @Nullable [] get(IntObjectHashMap<byte[]> own, int slot) {
        synchronized (own) {
            return own.get(slot);
        }
    }

    private static boolean isEqual(byte[] list, int at, byte[] fingerprints, int offset) {
        return Arrays.equals(list, at, at + Fingerprints.BYTES, fingerprints, offset, offset + Fingerprints.BYTES);
    }

    /** Returns the list of a container; null if there is none that can be believed. */
    private byte @Nullable [] list(long container) {
        try {
            return cache.get(container, () -> lists.fingerprints(container));
        } catch (ExecutionException e) {
            log.debug("the list of container {} proves no hint: {}", container, String.valueOf(e.getCause()));
            return null;
        }
    }

    @Override
    public void insert(Segment segment) throws IOException {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isFresh(chunk)) {
                note(segment.fingerprints(), Segment.fingerprintOffset(chunk), segment.chunkId(chunk));
            }
        }
        super.insert(segment);
    }

    private void note(byte[] fingerprints, int offset, long chunkId) {
        byte[] fingerprint = Arrays.copyOfRange(fingerprints, offset, offset + Fingerprints.BYTES);
        IntObjectHashMap<byte[]> own =
                open.computeIfAbsent(ChunkId.container(chunkId), container -> new IntObjectHashMap<>());
        synchronized (own) {
            own.put(ChunkId.slot(chunkId), fingerprint);
        }
    }

    /** Now the container has a list of its own. */
    @Override
    public void cover(long container, byte[] frameTable) throws IOException {
        super.cover(container, frameTable);
        open.remove(container);
    }
}
