package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.io.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fingerprint index of a mounted volume, which is replaced by an empty one when it is lost: its files were deleted,
 * are damaged, or cannot be written. Then it is filled from the containers. It can also be exchanged for one of another
 * kind, which is filled beside it and gets each change meanwhile. Safe for use by many threads; a call that fails
 * because the index is being replaced is repeated with the new one.
 */
public final class RenewableIndex implements ChunkIndex {
    private static final Logger log = LoggerFactory.getLogger(RenewableIndex.class);

    private final IndexLocation location;
    private volatile ChunkIndex index;
    /**
     * The last index of which a change failed, and not because the disk is full. Not only whether one failed: a failure
     * of an old index, which is noted when a new one is in use, does not make that one lost.
     */
    private volatile @Nullable ChunkIndex failing;

    /** Containers with lower ids may have chunks that are not in the index, although they are reported as whole. */
    private volatile long firstUnseen;

    /** The index that is being filled beside the one in use; null if none is. Read before {@link #index}. */
    private volatile @Nullable Filling filling;

    /** A successor, with what is known of it while it is filled. */
    private static final class Filling {
        final IndexLocation.Successor successor;
        volatile long firstUnseen = Long.MAX_VALUE;
        volatile @Nullable IOException failure;

        Filling(IndexLocation.Successor successor) {
            this.successor = successor;
        }

        /** Makes a change that was made in the index in use. A failure ends the exchange, not the change. */
        void change(Change change) {
            try {
                change.make(successor.index(), firstUnseen);
            } catch (IOException e) {
                failure = e;
            }
        }
    }

    RenewableIndex(ChunkIndex index, IndexLocation location) {
        this.index = index;
        this.location = location;
    }

    /**
     * Returns whether the index must be made anew. Asks the disk.
     *
     * @throws IOException if the disk does not answer in time
     */
    public boolean isLost() throws IOException {
        return failing == index || !index.keepsAnything() || location.isLost();
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
        ChunkIndex old = index;
        firstUnseen = Long.MAX_VALUE;
        index = fresh;
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

    /**
     * Begins to exchange the index for one of another kind: makes an empty one beside the one in use. From now on it
     * gets each change, and nobody asks it.
     *
     * @param kind its class
     * @param epoch the volume's epoch
     * @param nextContainer as {@link #renew}
     * @return the new index, to be filled
     * @throws IOException if it cannot be made; the one in use stays
     */
    public ChunkIndex beginExchange(IndexClass kind, Epoch epoch, NextContainer nextContainer) throws IOException {
        IndexLocation.Successor successor = location.makeSuccessor(kind);
        Filling begun = new Filling(successor);
        try {
            successor.index().stamp(epoch);
            filling = begun;
            begun.firstUnseen = nextContainer.get();
        } catch (IOException e) {
            filling = null;
            location.abandon(successor);
            throw e;
        }
        return successor.index();
    }

    /**
     * Takes the new index into use, and deletes the old one.
     *
     * @throws IOException if the new one failed meanwhile; the old one stays in use, and the new one is deleted
     */
    public void endExchange() throws IOException {
        Filling filled = filling;
        if (filled == null) {
            throw new IllegalStateException("no index is being filled");
        }
        try {
            if (filled.failure != null) {
                throw filled.failure;
            }
            location.adopt(filled.successor);
        } catch (IOException e) {
            abandonExchange();
            throw e;
        }
        ChunkIndex old = index;
        firstUnseen = filled.firstUnseen;
        index = filled.successor.index();
        filling = null;
        closeLost(old);
        location.deleteFormer();
    }

    /** Ends an exchange without success: the old index stays, the new one is deleted. Does nothing without one. */
    public void abandonExchange() {
        Filling begun = filling;
        filling = null;
        if (begun != null) {
            location.abandon(begun.successor);
        }
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
        ChunkIndex old = index;
        index = ChunkIndexes.none();
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
        // Before the index: a successor that is taken into use meanwhile gets the change twice, and not never.
        Filling beside = filling;
        ChunkIndex used = index;
        try {
            change.make(used, firstUnseen);
        } catch (IOException e) {
            if (used == index) {
                failing = Device.isFull(e) ? failing : used;
                throw e;
            }
            change.make(index, firstUnseen);
        }
        if (beside != null) {
            beside.change(change);
        }
    }

    private <T> T ask(Question<T> question) throws IOException {
        ChunkIndex used = index;
        try {
            return question.ask(used);
        } catch (IOException e) {
            if (used == index) {
                throw e;
            }
            return question.ask(index);
        }
    }

    @Override
    public Exactness exactness() {
        return index.exactness();
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
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        return index.forEachAfter(position, count, visitor);
    }

    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        index.sample(random, visitor);
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
        ChunkIndex used = index;
        try {
            return used.frameTable(container);
        } catch (IOException e) {
            if (used == index) {
                throw e;
            }
            return index.frameTable(container);
        }
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        index.forEachOf(container, visitor);
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        return index.epoch();
    }

    @Override
    public void stamp(Epoch epoch) throws IOException {
        index.stamp(epoch);
    }

    @Override
    public long highestContainer() throws IOException {
        return index.highestContainer();
    }

    @Override
    public void clear() throws IOException {
        index.clear();
    }

    @Override
    public void flush() throws IOException {
        change((used, unseen) -> used.flush());
    }

    @Override
    public boolean keepsAnything() {
        return index.keepsAnything();
    }

    @Override
    public long estimatedChunks() {
        return index.estimatedChunks();
    }

    @Override
    public IndexUse use() {
        return index.use();
    }

    @Override
    public void close() throws IOException {
        abandonExchange();
        index.close();
    }
}
