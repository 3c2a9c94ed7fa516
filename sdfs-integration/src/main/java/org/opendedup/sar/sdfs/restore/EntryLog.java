package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.record.EntryNames;

/**
 * Stores the entries of a tree in a scratch file, because there may be more than fit in memory. The order is that of
 * the walk, folders ahead of their entries. An entry's number is its offset in the file. Written by one thread; read by
 * any.
 */
final class EntryLog implements Closeable {
    /** Number of the tree's root, which is the first entry. */
    static final long ROOT = 0;

    private static final String NAME = "entries";
    /** Names of a path that a message shows, at most; a path may have any number. */
    private static final int SHOWN_NAMES = 40;

    private final Directory scratch;
    private final Output output;
    private final Input input;
    /** Of what is made of all entries. */
    private final MessageDigest tree = Sha256.newDigest();
    /** Of the lengths and references of all files. */
    private final MessageDigest contents = Sha256.newDigest();
    /** Number, offset, chunk and span of a reference, for the digest. */
    private final ByteBuffer reference = ByteBuffer.allocate(4 * Long.BYTES);

    EntryLog(Directory scratch) throws IOException {
        this.scratch = scratch;
        output = scratch.create(NAME);
        try {
            input = scratch.open(NAME);
        } catch (IOException e) {
            output.close();
            throw e;
        }
    }

    /** Returns the number of the entry that is appended next. */
    long next() {
        return output.position();
    }

    /** Appends an entry and returns its number. */
    long append(TreeEntry entry) throws IOException {
        ByteBuffer encoded = entry.encode();
        tree.update(entry.made().encode());
        ByteBuffer record = ByteBuffer.allocate(Integer.BYTES + encoded.remaining());
        record.putInt(encoded.remaining()).put(encoded).flip();
        return output.append(record);
    }

    /**
     * Adds to the digest of what is made that the destination did not have an entry which was appended. A later walk
     * may find another one's there by its name.
     */
    void addRefused(long number) {
        tree.update(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
    }

    /** Adds a reference of a file's recipe to the digest of contents: the chunk and its place in the file. */
    void addReference(long number, long offset, long chunkId, int chunkOffset, int length) {
        reference
                .clear()
                .putLong(number)
                .putLong(offset)
                .putLong(chunkId)
                .putInt(chunkOffset)
                .putInt(length);
        contents.update(reference.flip());
    }

    /** Adds the length of a file to the digest of contents, after its references. */
    void addLength(long number, long length) {
        addReference(number, length, 0, 0, 0);
    }

    TreeEntry read(long number) throws IOException {
        ByteBuffer lengthBytes = ByteBuffer.allocate(Integer.BYTES);
        input.readFully(number, lengthBytes);
        int length = lengthBytes.getInt(0);
        // Check the length before memory is allocated for it.
        if (length < 0 || length > output.position() - number - Integer.BYTES) {
            throw damage(number, "a length of " + length);
        }
        ByteBuffer encoded = ByteBuffer.allocate(length);
        input.readFully(number + Integer.BYTES, encoded);
        try {
            return TreeEntry.decode(encoded.flip());
        } catch (BufferUnderflowException e) {
            throw damage(number, "lengths that reach beyond its end");
        }
    }

    private static CorruptionException damage(long number, String found) {
        return new CorruptionException(NAME, number, "an entry of a tree", found);
    }

    /** Returns the path of an entry for messages, from the tree's root; for a deep entry, only the last names. */
    String text(String root, TreeEntry entry) throws IOException {
        var text = new StringBuilder();
        TreeEntry at = entry;
        for (int names = 0; !at.isRoot(); names++) {
            if (names == SHOWN_NAMES) {
                return root + "/..." + text;
            }
            text.insert(0, "/" + EntryNames.text(at.name()));
            at = read(at.parent());
        }
        return root + text;
    }

    /** Visits the entries one by one. */
    @FunctionalInterface
    interface Visitor {
        void visit(long number, TreeEntry entry) throws IOException;
    }

    void forEach(Visitor visitor) throws IOException {
        for (long number = 0; number < output.position(); ) {
            TreeEntry entry = read(number);
            visitor.visit(number, entry);
            number += Integer.BYTES + entry.encode().remaining();
        }
    }

    /**
     * Returns the SHA-256 of what is made of all entries. Two walks that found the same have the same digest. No entry
     * may be appended afterwards.
     */
    byte[] tree() {
        return tree.digest();
    }

    /** Returns the SHA-256 of the lengths and references of all files, as {@link #tree} does. */
    byte[] contents() {
        return contents.digest();
    }

    /** Deletes the file. */
    @Override
    public void close() throws IOException {
        try (output;
                input) {
            scratch.delete(NAME);
        }
    }
}
