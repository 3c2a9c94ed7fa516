package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.EntryNames;

/**
 * The entries of a tree in a scratch file, in the order of the walk, folders before what is in them: there may be more than memory
 * holds. An entry's number is its place in the file. Written by one thread; read by any.
 */
final class EntryLog implements Closeable {
    /** Number of the tree's root: it comes first. */
    static final long ROOT = 0;

    private static final String NAME = "entries";
    /** Names that a message shows of a path; there may be any number. */
    private static final int SHOWN_NAMES = 40;

    private final Directory scratch;
    private final Output output;
    private final Input input;
    private final MessageDigest digest;
    /** Number, offset, chunk and span of a reference, for the digest. */
    private final ByteBuffer reference = ByteBuffer.allocate(4 * Long.BYTES);

    EntryLog(Directory scratch) throws IOException {
        this.scratch = scratch;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
        output = scratch.create(NAME);
        try {
            input = scratch.open(NAME);
        } catch (IOException e) {
            output.close();
            throw e;
        }
    }

    /** Returns the entry's number. */
    long append(TreeEntry entry) throws IOException {
        ByteBuffer encoded = entry.encode();
        digest.update(encoded.duplicate());
        ByteBuffer record = ByteBuffer.allocate(Integer.BYTES + encoded.remaining());
        record.putInt(encoded.remaining()).put(encoded).flip();
        return output.append(record);
    }

    /** Has the digest depend on a reference of a file's recipe: on the chunk and on the place that it fills. */
    void addReference(long number, long offset, long chunkId, int chunkOffset, int length) {
        reference
                .clear()
                .putLong(number)
                .putLong(offset)
                .putLong(chunkId)
                .putInt(chunkOffset)
                .putInt(length);
        digest.update(reference.flip());
    }

    TreeEntry read(long number) throws IOException {
        ByteBuffer lengthBytes = ByteBuffer.allocate(Integer.BYTES);
        input.readFully(number, lengthBytes);
        int length = lengthBytes.getInt(0);
        // Before there is memory for it.
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

    /** The path of an entry for messages, from the tree's root: of a deep one the last names. */
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

    /** Takes the entries one by one. */
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

    /** SHA-256 of all entries and references: two walks that found the same have the same. Ends the appending. */
    byte[] digest() {
        return digest.digest();
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
