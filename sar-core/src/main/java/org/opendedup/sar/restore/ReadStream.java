package org.opendedup.sar.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.lookahead.AheadRequest;
import org.opendedup.sar.restore.lookahead.ReadAhead;
import org.opendedup.sar.restore.lookahead.TreeReads;

/**
 * One reader of one file. When it reads in sequence, it is read ahead ({@link ReadAhead}). A reader may read in
 * sequence at several positions in turn, for example two threads, or a virtual machine in its image. A reader that goes
 * through a tree of files is read ahead as well ({@link TreeReads}). Small scattered reads are not read ahead. Safe for
 * use by many threads.
 */
public final class ReadStream implements Closeable {
    /** Most positions of one reader that are read ahead at once, if its share of the memory has a part for each. */
    static final int MOST_POSITIONS = 8;

    private final RecipeReads reads;
    private final ReadAhead ahead;
    private final @Nullable TreeReads trees;
    private final long folder;
    private final long inode;

    /**
     * @param trees reads ahead across files; null if nobody knows the folder
     * @param folder folder in which the file was found
     */
    ReadStream(RecipeReads reads, ReadAhead ahead, @Nullable TreeReads trees, long folder, long inode) {
        this.reads = reads;
        this.ahead = ahead;
        this.trees = trees;
        this.folder = folder;
        this.inode = inode;
    }

    /**
     * Notes a request for {@code length} bytes at {@code offset} of a file of {@code size} bytes, and reads ahead of
     * it.
     *
     * @return whether the request begins where the previous one ended; to be passed to {@link #read}
     */
    public boolean note(long offset, int length, long size) {
        boolean continues = ahead.note(offset, length, size);
        if (trees != null) {
            trees.note(folder, inode, offset, length, size);
        }
        return continues;
    }

    /**
     * Copies {@code length} bytes of the file, from {@code offset} on, into {@code target}. Uses chunks that were
     * fetched ahead where there are any.
     *
     * @param continues what {@link #note} returned for this request
     */
    public void read(long offset, int length, boolean continues, ByteBuffer target) throws IOException {
        try (AheadRequest request = request(offset, length)) {
            if (request != null) {
                int start = target.position();
                int first = request.length();
                Set<Long> chunks = new LinkedHashSet<>();
                if (reads.readAhead(request, inode, offset, first, target, chunks)) {
                    request.took(chunks);
                    if (first < length) {
                        reads.read(inode, offset + first, length - first, true, target);
                    }
                    return;
                }
                target.position(start);
            }
            reads.read(inode, offset, length, continues, target);
        }
    }

    private @Nullable AheadRequest request(long offset, int length) {
        AheadRequest own = ahead.request(offset, length);
        return own != null || trees == null ? own : trees.request(inode, offset, length);
    }

    /** Drops what was fetched for the reader. Idempotent. */
    @Override
    public void close() {
        ahead.close();
    }
}
