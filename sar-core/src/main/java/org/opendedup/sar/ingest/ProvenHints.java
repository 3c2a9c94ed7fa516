package org.opendedup.sar.ingest;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.io.IOException;
import java.util.Arrays;
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

    /** Room for the first chunks of a container, in bytes. */
    private static final int FIRST_BYTES = 128 * Fingerprints.BYTES;

    private final Lists lists;
    /** Lists by container. Changes of those that are not sealed are guarded by this. */
    private final Cache<Long, Listed> cache;

    /**
     * Fingerprints of a container by slot.
     *
     * @param isSealed whether it is the list of the sealed container; else it has the chunks that this process has put
     *     there, and zeros in place of others
     */
    private record Listed(byte[] fingerprints, boolean isSealed) {
        boolean has(int slot, byte[] wanted, int offset) {
            int at = slot * Fingerprints.BYTES;
            return at + Fingerprints.BYTES <= fingerprints.length
                    && Arrays.equals(
                            fingerprints, at, at + Fingerprints.BYTES, wanted, offset, offset + Fingerprints.BYTES);
        }
    }

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

    /**
     * @param cacheBytes bytes of lists that are kept; a chunk of a container that is not sealed, and whose list is not
     *     kept, is stored again
     */
    public ProvenHints(ChunkIndex index, Lists lists, long cacheBytes) {
        super(index);
        this.lists = lists;
        cache = CacheBuilder.newBuilder()
                .maximumWeight(cacheBytes)
                .<Long, Listed>weigher((container, listed) -> listed.fingerprints.length)
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
        Listed listed = cache.getIfPresent(container);
        if (listed != null && (listed.isSealed || listed.has(slot, fingerprints, offset))) {
            return listed.has(slot, fingerprints, offset);
        }
        Listed sealed = read(container);
        return sealed != null && sealed.has(slot, fingerprints, offset);
    }

    /** Reads the list of a sealed container; null if there is none that can be believed. */
    private @Nullable Listed read(long container) {
        try {
            var sealed = new Listed(lists.fingerprints(container), true);
            cache.put(container, sealed);
            return sealed;
        } catch (IOException e) {
            log.debug("the list of container {} proves no hint: {}", container, e.toString());
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

    private synchronized void note(byte[] fingerprints, int offset, long chunkId) {
        long container = ChunkId.container(chunkId);
        Listed listed = cache.getIfPresent(container);
        if (listed != null && listed.isSealed) {
            return;
        }
        byte[] list = listed == null ? new byte[0] : listed.fingerprints;
        int at = ChunkId.slot(chunkId) * Fingerprints.BYTES;
        if (at + Fingerprints.BYTES > list.length) {
            list = Arrays.copyOf(list, Math.max(at + FIRST_BYTES, 2 * list.length));
            cache.put(container, new Listed(list, false));
        }
        System.arraycopy(fingerprints, offset, list, at, Fingerprints.BYTES);
    }

    /** Now the container has a list of its own. */
    @Override
    public void cover(long container, byte[] frameTable) throws IOException {
        super.cover(container, frameTable);
        cache.invalidate(container);
    }
}
