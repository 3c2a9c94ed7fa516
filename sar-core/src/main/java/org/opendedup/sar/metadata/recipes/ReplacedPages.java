package org.opendedup.sar.metadata.recipes;

import com.carrotsearch.hppc.LongHashSet;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.SnapshotIds;

/**
 * The pages of one file's recipe that were replaced since they were taken last. So a copy of a long recipe can follow a
 * file that is in use, until little is left that it can copy in one step. Safe for use by many threads.
 */
public final class ReplacedPages implements AutoCloseable {
    /** Maximum number of pages remembered, in about 16 MiB: those of 256 GiB of a file at the default page size. */
    private static final int MAX_PAGES = 1 << 20;

    private final long inode;
    private final Consumer<ReplacedPages> end;
    /** Null if there were too many. Guarded by this. */
    private @Nullable LongHashSet pages = new LongHashSet();

    ReplacedPages(long inode, Consumer<ReplacedPages> end) {
        this.inode = inode;
        this.end = end;
    }

    void note(long ofInode, long page) {
        // A page that is rewritten may be that of a snapshot, too.
        if (SnapshotIds.inode(ofInode) != SnapshotIds.inode(inode)) {
            return;
        }
        synchronized (this) {
            if (pages != null) {
                pages.add(page);
                pages = pages.size() > MAX_PAGES ? null : pages;
            }
        }
    }

    /**
     * Returns the pages that were replaced since the last call, in ascending order, and forgets them; null if there
     * were so many that any page may have been replaced.
     */
    public synchronized long @Nullable [] take() {
        long[] taken = pages == null ? null : pages.toArray();
        pages = new LongHashSet();
        if (taken != null) {
            Arrays.sort(taken);
        }
        return taken;
    }

    @Override
    public void close() {
        end.accept(this);
    }
}
