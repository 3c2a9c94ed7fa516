package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.util.BitSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ForwardingChunkIndex;
import org.opendedup.sar.io.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fingerprint index of a mounted volume, which is replaced by an empty one when it is lost: its files were deleted,
 * are damaged, or cannot be written. Then it is filled from the containers. Safe for use by many threads; a call that
 * fails because the index is being replaced is repeated with the new one.
 */
public final class RenewableIndex extends ForwardingChunkIndex {
    private static final Logger log = LoggerFactory.getLogger(RenewableIndex.class);

    private final IndexLocation location;
    /**
     * The last index of which a change failed, and not because the disk is full. Not only whether one failed: a failure
     * of an old index, which is noted when a new one is in use, does not make that one lost.
     */
    private volatile @Nullable ChunkIndex failing;

    /** Containers with lower ids may have chunks that are not in the index, although they are reported as whole. */
    private volatile long firstUnseen;

    RenewableIndex(ChunkIndex index, IndexLocation location) {
        super(index);
        this.location = location;
    }

    /**
     * Returns whether the index must be made anew. Asks the disk.
     *
     * @throws IOException if the disk does not answer in time
     */
    public boolean isLost() throws IOException {
        return failing == index() || !index().keepsAnything() || location.isLost();
    }

    /** Tells an id above that of every container. */
    @FunctionalInterface
    public interface NextContainer {
        long get() throws IOException;
    }

    /**
     * Replaces the index by an empty one.
     *
     * @param epoch the volume's epoch
     * @param nextContainer is asked when the new index is in use: a container that is opened later has all its chunks
     *     there. Seals of containers with lower ids are not taken as complete
     * @return the new index, to be filled
     * @throws IOException if none can be made: the old one stays in use; or if the next container is not known: the new
     *     one is in use, and is lost in its turn
     */
    public ChunkIndex renew(Epoch epoch, NextContainer nextContainer) throws IOException {
        ChunkIndex fresh = location.makeAnother();
        try {
            fresh.stamp(epoch);
        } catch (IOException e) {
            fresh.close();
            throw e;
        }
        ChunkIndex old = index();
        firstUnseen = Long.MAX_VALUE;
        replace(fresh);
        try {
            firstUnseen = nextContainer.get();
        } catch (IOException e) {
            failing = fresh;
            throw e;
        } finally {
            closeLost(old);
        }
        return fresh;
    }

    private static void closeLost(ChunkIndex old) {
        try {
            old.close();
        } catch (IOException e) {
            log.debug("the lost fingerprint index could not be closed cleanly", e);
        }
    }

    /** Goes on without an index, which counts as lost until it is renewed. */
    public void giveUp() {
        ChunkIndex old = index();
        replace(ChunkIndexes.none());
        closeLost(old);
    }

    /** Returns an id: seals of containers with lower ids are not taken as complete. */
    public long firstUnseen() {
        return firstUnseen;
    }

    private interface Change {
        /** @param firstUnseen see {@link RenewableIndex#firstUnseen} */
        void make(ChunkIndex index, long firstUnseen) throws IOException;
    }

    private interface Question<T> {
        T ask(ChunkIndex index) throws IOException;
    }

    private void change(Change change) throws IOException {
        ChunkIndex used = index();
        try {
            change.make(used, firstUnseen);
        } catch (IOException e) {
            if (used == index()) {
                failing = Device.isFull(e) ? failing : used;
                throw e;
            }
            change.make(index(), firstUnseen);
        }
    }

    private <T> T ask(Question<T> question) throws IOException {
        ChunkIndex used = index();
        try {
            return question.ask(used);
        } catch (IOException e) {
            if (used == index()) {
                throw e;
            }
            return question.ask(index());
        }
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        ask(used -> {
            used.lookup(segment);
            return segment;
        });
    }

    @Override
    public void insert(Segment segment) throws IOException {
        change((used, unseen) -> used.insert(segment));
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        change((used, unseen) -> used.insert(fingerprints, offset, chunkId));
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        change((used, unseen) -> used.remove(container, fingerprints, slots));
    }

    @Override
    public void cover(long container, byte[] frameTable) throws IOException {
        change((used, unseen) -> {
            if (container >= unseen) {
                used.cover(container, frameTable);
            }
        });
    }

    @Override
    public void uncover(long container) throws IOException {
        change((used, unseen) -> used.uncover(container));
    }

    @Override
    public byte @Nullable [] frameTable(long container) throws IOException {
        return ask(used -> Optional.ofNullable(used.frameTable(container))).orElse(null);
    }

    @Override
    public void flush() throws IOException {
        change((used, unseen) -> used.flush());
    }
}
