package org.opendedup.sar.volume.send;

import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.restore.bulk.ContainerOrderRestore;
import org.opendedup.sar.restore.bulk.PlaceWriter;
import org.opendedup.sar.restore.bulk.Places;
import org.opendedup.sar.restore.frame.StopCheck;

/**
 * Reads the chunks of a window as a restore does: each container once, in the order of the disk, verified by their
 * fingerprints. For one thread.
 */
final class ChunkLoader {
    /** The references of a window stay in memory: 40 bytes for each of {@value Window#MOST_CHUNKS}. */
    private static final int PLACES_BYTES = 2 * 40 * Window.MOST_CHUNKS;

    /**
     * Bytes of the prefixes of fingerprints that are remembered: those of some 10 000 containers, so that the files of
     * a snapshot that share their chunks do not have each directory read again and again.
     */
    private static final int MOST_PREFIX_BYTES = 8 << 20;

    /** Heap of an entry in addition to its prefixes, in bytes. */
    private static final int ENTRY_BYTES = 100;

    private static final ContainerOrderRestore.Milestones NO_MILESTONES = new ContainerOrderRestore.Milestones() {
        @Override
        public boolean isDue() {
            return false;
        }

        @Override
        public void reached(long container, long bytes) {}
    };

    private final ContainerStore containers;
    private final RestoreEngine restore;
    private final Directory scratch;
    private final StopCheck stop;
    private final ContentHasher hasher = new ContentHasher();
    /** First bytes of the fingerprints of containers, by container: of those that {@link #isListed} used last. */
    private final Map<Long, int[]> prefixes = new LinkedHashMap<>(16, 0.75f, true);

    private long prefixBytes;

    ChunkLoader(ContainerStore containers, RestoreEngine restore, Directory scratch, StopCheck stop) {
        this.containers = containers;
        this.restore = restore;
        this.scratch = scratch;
        this.stop = stop;
    }

    /** A chunk cannot be read. */
    static final class DamagedChunkException extends IOException {
        private static final long serialVersionUID = 1;

        private final long inode;

        DamagedChunkException(long inode, IOException why) {
            super(why.getMessage(), why);
            this.inode = inode;
        }

        /** Returns the file that needs it. */
        long inode() {
            return inode;
        }
    }

    /** Receives the bytes of chunks. Called by several threads, each with bytes of its own. */
    private record Buffer(byte[] bytes, AtomicReference<@Nullable Damage> damage) implements PlaceWriter {
        @Override
        public void write(long file, long offset, byte[] data, int from, int length) {
            System.arraycopy(data, from, bytes, (int) offset, length);
        }

        @Override
        public void damaged(long file, long offset, int length, IOException why) {
            damage.compareAndSet(null, new Damage((int) offset, why));
        }
    }

    private record Damage(int offset, IOException why) {}

    /**
     * Reads the chunks of a window, one after another into {@code target}; returns their fingerprints.
     *
     * @param target has room for {@link Window#bytes}
     * @throws DamagedChunkException if one of them cannot be read, or is not what was stored
     */
    byte[] read(Window window, byte[] target) throws IOException {
        if (window.count() == 0) {
            return new byte[0];
        }
        Buffer buffer = new Buffer(target, new AtomicReference<>());
        try (Places places = new Places(scratch, PLACES_BYTES, stop)) {
            int at = 0;
            for (int i = 0; i < window.count(); i++) {
                places.add(window.chunkId(i), 0, window.length(i), window.fingerprintPrefix(i), 0, at);
                at += window.length(i);
            }
            restore.inContainerOrder().restore(places, 0, buffer, NO_MILESTONES);
        }
        Damage damage = buffer.damage.get();
        if (damage != null) {
            throw new DamagedChunkException(inodeAt(window, damage.offset), damage.why);
        }
        byte[] fingerprints = new byte[window.count() * Fingerprints.BYTES];
        int at = 0;
        for (int i = 0; i < window.count(); i++) {
            hasher.fingerprint(ContentHash.SHA_256, target, at, window.length(i), fingerprints, i * Fingerprints.BYTES);
            at += window.length(i);
        }
        return fingerprints;
    }

    private static long inodeAt(Window window, int offset) {
        int end = 0;
        for (int i = 0; i < window.count(); i++) {
            end += window.length(i);
            if (offset < end) {
                return window.inode(i);
            }
        }
        throw new IllegalArgumentException("no chunk at " + offset);
    }

    /**
     * Returns the fingerprints of a window's chunks, from the lists of their containers: no chunk is read. Those of
     * chunks whose container has no list, or a damaged one, are zeros.
     */
    byte[] listed(Window window) throws IOException {
        byte[] fingerprints = new byte[window.count() * Fingerprints.BYTES];
        int[] order = IntStream.range(0, window.count())
                .boxed()
                .sorted((a, b) -> Long.compare(window.chunkId(a), window.chunkId(b)))
                .mapToInt(Integer::intValue)
                .toArray();
        long container = 0;
        SealedContainer list = null;
        for (int i : order) {
            if (ChunkId.container(window.chunkId(i)) != container) {
                container = ChunkId.container(window.chunkId(i));
                list = list(container);
                stop.check();
            }
            int slot = ChunkId.slot(window.chunkId(i));
            // What the recipe does not mean is read, and found to be damaged, and not taken from the receiver.
            if (list != null
                    && slot < list.slots()
                    && list.length(slot) == window.length(i)
                    && prefix(list, slot) == window.fingerprintPrefix(i)) {
                System.arraycopy(
                        list.fingerprints(),
                        slot * Fingerprints.BYTES,
                        fingerprints,
                        i * Fingerprints.BYTES,
                        Fingerprints.BYTES);
            }
        }
        return fingerprints;
    }

    private static int prefix(SealedContainer list, int slot) {
        return Fingerprints.fingerprintPrefix(list.fingerprints(), slot * Fingerprints.BYTES);
    }

    /**
     * Returns whether a container lists a chunk with this prefix of its fingerprint; false also if it has no list that
     * can be read. Remembers the lists that were used last.
     */
    boolean isListed(long chunkId, int fingerprintPrefix) throws IOException {
        long container = ChunkId.container(chunkId);
        int[] known = prefixes.get(container);
        if (known == null) {
            stop.check();
            SealedContainer list = list(container);
            if (list == null) {
                return false;
            }
            known = prefixes(list);
            remember(container, known);
        }
        int slot = ChunkId.slot(chunkId);
        return slot < known.length && known[slot] == fingerprintPrefix;
    }

    private void remember(long container, int[] known) {
        prefixes.put(container, known);
        prefixBytes += bytes(known);
        for (Iterator<int[]> eldest = prefixes.values().iterator(); prefixBytes > MOST_PREFIX_BYTES; eldest.remove()) {
            prefixBytes -= bytes(eldest.next());
        }
    }

    private static long bytes(int[] known) {
        return ENTRY_BYTES + (long) Integer.BYTES * known.length;
    }

    private static int[] prefixes(SealedContainer list) {
        int[] known = new int[list.slots()];
        for (int slot = 0; slot < known.length; slot++) {
            known[slot] = prefix(list, slot);
        }
        return known;
    }

    private @Nullable SealedContainer list(long container) {
        try {
            return containers.isSealed(container) ? containers.directory(container) : null;
        } catch (IOException e) {
            return null; // Its chunks are read, or are found to be damaged, without being offered.
        }
    }

    /** Returns whether fingerprint {@code chunk} of {@link #listed} is known. */
    static boolean isKnown(byte[] fingerprints, int chunk) {
        int at = chunk * Fingerprints.BYTES;
        return !Arrays.equals(
                fingerprints, at, at + Fingerprints.BYTES, new byte[Fingerprints.BYTES], 0, Fingerprints.BYTES);
    }
}
