package org.opendedup.sar.volume.stream;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotIdentity;

/**
 * One message of a stream, or of the receiver's answers. A stream is a {@link Start}, then what differs, in ascending
 * order of inodes, and an {@link End}. Of one inode: {@link Removed}, or {@link Changed}, {@link Attributes},
 * {@link Names} and {@link Pages}, each only if there is something to say. {@link Chunks} come before the first page
 * that needs them; before these an {@link Offer}, if the receiver answers.
 */
public sealed interface StreamMessage {
    /**
     * The first message: what the stream is.
     *
     * @param point where it begins; its target is the snapshot that a receiver has after it
     * @param pageBytes bytes of a page of a recipe: a power of two
     * @param hash how fingerprints are made of chunks
     * @param name name of the snapshot
     * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
     * @param isScheduled whether a schedule made it
     * @param firstInode no inode from this number on is in it
     * @param logicalBytes bytes of its files that are in chunks
     * @param files number of its inodes
     */
    record Start(
            StreamPoint point,
            int pageBytes,
            ContentHash hash,
            String name,
            long heldUntilMs,
            boolean isScheduled,
            long firstInode,
            long logicalBytes,
            long files)
            implements StreamMessage {}

    /** An inode of the base that the target does not have. */
    record Removed(long inode) implements StreamMessage {}

    /**
     * An inode that is new, or whose record differs. Its data bytes are those of the sender's recipe; a receiver counts
     * its own. Pages that begin at its size or behind it are not sent: it has none.
     */
    record Changed(Inode inode) implements StreamMessage {}

    /**
     * An extended attribute.
     *
     * @param value null: the target does not have it
     */
    record Attribute(byte[] name, byte @Nullable [] value) {}

    /** Extended attributes that differ. */
    record Attributes(long inode, List<Attribute> attributes) implements StreamMessage {}

    /**
     * A name in a directory.
     *
     * @param inode what it leads to; 0: the target does not have the name
     * @param type file type, as in {@code mode & S_IFMT}; 0 if it does not have the name
     */
    record Name(byte[] name, long inode, int type) {}

    /** Names in a directory that differ. */
    record Names(long directory, List<Name> names) implements StreamMessage {}

    /**
     * Chunks, without their bytes. A struct of arrays.
     *
     * @param ids the sender's ids: in the target they name these chunks and no others
     * @param lengths bytes of each chunk
     * @param fingerprints one after another, {@value Fingerprints#BYTES} bytes each
     */
    record ChunkList(long[] ids, int[] lengths, byte[] fingerprints) {
        public int count() {
            return ids.length;
        }

        /** Returns the bytes of all chunks. */
        public long bytes() {
            long bytes = 0;
            for (int length : lengths) {
                bytes += length;
            }
            return bytes;
        }
    }

    /** Asks which chunks the receiver lacks; {@link Answer} says that. Offers are answered in their order. */
    record Offer(ChunkList chunks) implements StreamMessage {}

    /**
     * Chunks with their bytes.
     *
     * @param data the bytes of all chunks, one after another
     */
    record Chunks(ChunkList chunks, byte[] data) implements StreamMessage {}

    /** Pages of a file that differ, in ascending order of their numbers. */
    record Pages(long inode, List<StreamPage> pages) implements StreamMessage {}

    /**
     * The last message. Without it a stream is not complete.
     *
     * @param removed number of inodes removed
     * @param changed number of inodes changed
     * @param chunks number of chunks whose bytes were sent
     * @param chunkBytes bytes of these chunks before compression
     */
    record End(long removed, long changed, long chunks, long chunkBytes) implements StreamMessage {}

    /**
     * The first message of a receiver that answers.
     *
     * @param pageBytes bytes of a page of its recipes
     * @param hash how its fingerprints are made
     * @param snapshots those that it has, oldest first
     * @param reached where a stream that it did not receive to its end must go on; null: there is none
     */
    record Greeting(
            int pageBytes,
            ContentHash hash,
            List<SnapshotIdentity> snapshots,
            @Nullable StreamPoint reached) implements StreamMessage {}

    /**
     * The answer to an {@link Offer}.
     *
     * @param lacking bit {@code i} is set if the receiver lacks the offer's chunk {@code i}: bit {@code i % 8} of byte
     *     {@code i / 8}
     */
    record Answer(byte[] lacking) implements StreamMessage {
        public boolean lacks(int chunk) {
            return (lacking[chunk / Byte.SIZE] >>> chunk % Byte.SIZE & 1) != 0;
        }
    }

    /** The receiver has everything, durably: its last message. */
    record Received() implements StreamMessage {}

    /** The receiver cannot go on, and why: its last message. */
    record Refused(String why) implements StreamMessage {}
}
