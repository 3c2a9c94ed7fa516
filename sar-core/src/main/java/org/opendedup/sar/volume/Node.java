package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.Inode;

/**
 * An inode in use. Its monitor guards every field but {@code references}; it is held shortly, never while waiting for a disk or another lock.
 */
final class Node {
    final long id;
    final int type;
    final int device;
    final long createdNs;

    int mode;
    int links;
    int uid;
    int gid;
    /** Length as readers see it, dirty bytes included. */
    long size;
    /** Bytes of a regular file that its recipe describes, and so the size that a commit makes durable. */
    long storedBytes;
    /** Bytes that chunks give, by the recipe; with those of a tail that is being removed. */
    long dataBytes;
    /** What the last encoding counted of them in the volume's logical bytes. */
    long countedBytes;

    long parent;
    /** Whether there are extended attributes. */
    ExtendedAttributes.Presence attributes = ExtendedAttributes.Presence.UNKNOWN;
    /** Made without a name, and never had one: it may still get one. */
    boolean unnamed;

    long accessedNs;
    long modifiedNs;
    long changedNs;

    /** Kernel lookups, open files and calls under way. Guarded by the {@link NodeTable}, not by the monitor. */
    long references;
    /** Those of the references that are kernel lookups; guarded likewise. */
    long lookups;
    /** Whether a call came to it since the table's hand did; guarded likewise. */
    boolean used;
    /** Set once the inode is being freed, so that it is freed once. */
    boolean freed;

    /** Times that accepted bytes could not be stored; an open file compares it with what it knew when it was opened. */
    int failures;
    /** As many of them as somebody was told of; the next who opens the file is told of the others. */
    int failuresTold;

    @Nullable
    Throwable lastFailure;

    @Nullable
    Contents contents;

    Node(Inode inode) {
        id = inode.id();
        type = inode.mode() & Modes.TYPE;
        device = inode.device();
        createdNs = inode.createdNs();
        mode = inode.mode();
        links = inode.links();
        uid = inode.uid();
        gid = inode.gid();
        size = inode.size();
        storedBytes = inode.size();
        dataBytes = inode.dataBytes();
        countedBytes = inode.dataBytes();
        parent = inode.parent();
        accessedNs = inode.accessedNs();
        modifiedNs = inode.modifiedNs();
        changedNs = inode.changedNs();
    }

    boolean isDirectory() {
        return type == Modes.DIRECTORY;
    }

    boolean isRegular() {
        return type == Modes.REGULAR;
    }

    boolean isSymbolicLink() {
        return type == Modes.SYMBOLIC_LINK;
    }

    /**
     * As a commit is to keep it: a regular file no longer than its recipe.
     *
     * @param target of a symbolic link, else empty
     */
    synchronized Inode toInode(byte[] target) {
        long kept = isRegular() ? storedBytes : size;
        return new Inode(
                id,
                1,
                mode,
                links,
                uid,
                gid,
                device,
                kept,
                dataBytes,
                parent,
                accessedNs,
                modifiedNs,
                changedNs,
                createdNs,
                target);
    }

    synchronized Attributes attributes() {
        return new Attributes(
                id,
                1,
                mode,
                links,
                uid,
                gid,
                device,
                size,
                (inUseBytes() + 511) / 512,
                accessedNs,
                modifiedNs,
                changedNs,
                createdNs);
    }

    /** Without holes and zeros; bytes that replace others while they are stored may count twice. With the monitor held. */
    long inUseBytes() {
        if (!isRegular()) {
            return size;
        }
        return Math.min(size, dataBytes + (contents == null ? 0 : contents.takenBytes()));
    }

    /** The directory that this one is in at this moment. */
    synchronized long parent() {
        return parent;
    }

    /** Length as readers see it at this moment. */
    synchronized long size() {
        return size;
    }

    /** The contents of a regular file in use. */
    synchronized Contents contents() {
        if (contents == null) {
            throw new IllegalStateException("inode " + id + " is not open");
        }
        return contents;
    }

    /** Makes sure that the file has one {@link Contents} until {@link #leave}. */
    synchronized Contents use(DirtyBudget budget, Capacity capacity) {
        if (contents == null) {
            contents = new Contents(budget, capacity);
        }
        contents.users++;
        return contents;
    }

    synchronized void leave() {
        contents().users--;
        dropIfIdle();
    }

    /** Forgets contents that nobody uses and that are stored. Called with the monitor held. */
    void dropIfIdle() {
        if (contents != null && contents.users == 0 && contents.isClean()) {
            contents = null;
        }
    }

    /** Waits until the file is not being cut off; called with its storing lock held, the next one does not begin. */
    synchronized void awaitNotCutting() throws IOException {
        awaitEnd(() -> contents != null && contents.cutting);
    }

    /** The tail is gone, or never goes. */
    synchronized void endCutting() {
        contents().cutting = false;
        notifyAll();
    }

    /** Waits until the file has one end. */
    synchronized void awaitEnd() throws IOException {
        awaitEnd(() -> contents().isCut);
    }

    private synchronized void awaitEnd(BooleanSupplier going) throws IOException {
        while (going.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while the file was being cut off");
            }
        }
    }

    /** From here to {@link #endCut} the file has no end that may be shown. */
    synchronized void beginCut() {
        contents().isCut = true;
    }

    synchronized void endCut() {
        contents().isCut = false;
        contents().completions++;
        notifyAll();
    }

    /** The state of a regular file that is open or has dirty bytes. */
    static final class Contents {
        /**
         * Held while bytes are stored, cut off, punched or copied: one run of a file at a time. Taken before any other lock;
         * of two files, that of the lower inode number first. Fair, so that a commit that stores the file gets its turn between the
         * steps of a long copy.
         */
        final ReentrantLock storing = new ReentrantLock(true);

        private final Capacity capacity;
        /** Of the capacity: taken for bytes that chunks are going to give. */
        private long prepaid;
        /** Bytes that chunks give more since {@link #prepaid} was changed for such. */
        private long unsettled;
        /** Whether changes of the recipe are {@link #prepaid}. */
        private boolean settling;

        final DirtyExtents dirty;
        /** Taken out of {@link #dirty} and being stored; still to be read from memory. */
        DirtyExtents.@Nullable Run stored;
        /** See {@link org.opendedup.sar.ingest.IngestPipeline.Destination#cleanCut}. */
        long cleanCut = -1;
        /** When the oldest dirty byte came, {@link System#nanoTime}. */
        long dirtySinceNs;

        /** Open files, and calls under way that need this object to stay the file's only one. */
        int users;
        /** Openings for writing. */
        int writers;

        /** Runs stored so far: tells a reader whether bytes moved from memory to the recipe while it read. */
        long completions;

        /** Whether a task that stores bytes of this file is waiting or running. */
        boolean scheduled;
        /** Whether the file is being cut off: nothing is stored meanwhile, and its length does not change. */
        boolean cutting;
        /** Whether the bytes behind the new end are going at this moment; a read waits, or is done again. */
        boolean isCut;

        Contents(DirtyBudget budget, Capacity capacity) {
            this.capacity = capacity;
            dirty = new DirtyExtents(budget, capacity);
        }

        /** What bytes that wait to be stored or are being stored have taken of the capacity. */
        long takenBytes() {
            return dirty.takenBytes() + prepaid;
        }

        /** Takes over what was taken of the capacity for bytes that chunks are going to give: from here to {@link #settleAll}. */
        void prepay(long bytes) {
            settling = true;
            prepaid += bytes;
        }

        /** Chunks give so many bytes more by the recipe. */
        void noteData(long more) {
            if (settling) {
                unsettled += more;
            } else {
                capacity.change(more);
            }
        }

        /** So many of the prepaid bytes have become what was noted since the last time: both at one moment. */
        void settle(long bytes) {
            capacity.change(unsettled - bytes);
            prepaid -= bytes;
            unsettled = 0;
        }

        /** Ends it, and gives back what was prepaid too much. */
        void settleAll() {
            settle(prepaid);
            settling = false;
        }

        /** Whether every byte of the range is newer than the recipe. */
        boolean covers(long offset, int length) {
            return dirty.covers(offset, length)
                    || stored != null && stored.start() <= offset && stored.end() >= offset + length;
        }

        /** Copies what is newer than the recipe over it; {@code target}'s position stands for {@code offset}. */
        void overlay(long offset, int length, ByteBuffer target) {
            if (stored != null) {
                stored.overlay(offset, length, target);
            }
            dirty.overlay(offset, length, target);
        }

        /** The first byte from {@code from} on that is in memory only; {@link Long#MAX_VALUE} if there is none. */
        long nextInMemory(long from) {
            long next = dirty.nextPresent(from);
            return stored != null && stored.end() > from ? Math.min(next, Math.max(from, stored.start())) : next;
        }

        /** The first byte from {@code from} on that is not in memory only. */
        long nextNotInMemory(long from) {
            long at = from;
            long next = dirty.nextAbsent(at);
            while (stored != null && stored.start() <= next && stored.end() > next) {
                at = stored.end();
                next = dirty.nextAbsent(at);
            }
            return next;
        }

        boolean isClean() {
            return dirty.isEmpty() && stored == null;
        }
    }
}
