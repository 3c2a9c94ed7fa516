package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.raw.Placements;
import org.opendedup.sar.volume.write.IntentLog;

/**
 * An inode in use. Its monitor guards every field except those that the {@link NodeTable} guards. The monitor is held
 * for a short time only, never while waiting for a disk or another lock.
 */
public final class Node {
    public final long id;
    public final int type;
    final int device;
    /** Tells the kernel whether it knows this inode; see {@link #renew}. Guarded by this. */
    private int generation;
    /** Whether the kernel may know it by another generation. Guarded by this. */
    private boolean isRenewed;

    final long createdNs;
    /** Whether it never changes by what programs do: it is in a snapshot or in a replica. */
    private final boolean isFixed;

    public int mode;
    public int links;
    /** The owner, the group and the project that it is charged to; see {@link NodeTable#charge}. */
    private Account account;
    /** Length in bytes as readers see it, including dirty bytes. */
    public long size;
    /**
     * Number of bytes of a regular file that its recipe describes. A commit makes this size durable, or that of the
     * {@link FileIntents} if it is greater.
     */
    public long storedBytes;
    /** Number of bytes that are stored in chunks, according to the recipe. Includes a tail that is being removed. */
    public long dataBytes;
    /** The value of {@link #dataBytes} that the last encoding counted in the volume's logical bytes. */
    public long countedBytes;

    public long parent;
    /** Whether the inode has extended attributes. */
    Presence attributes = Presence.UNKNOWN;
    /** Whether bytes were read or written while the kernel held references: its page cache may have some. */
    public boolean transferred;
    /** Of a file: inode number of the folder by which it was found, made or renamed last; 0 if it is not known. */
    public long folder;
    /**
     * The file's place on the fast tier, which has all of its bytes; null if its recipe describes them. Changes only
     * while no {@link Contents} has users, except that the first user of an empty file sets it. For a raw file,
     * {@link #size} is as it was last seen.
     */
    public @Nullable RawFile raw;
    /** When the look at the fast tier began whose result the attributes are. */
    private long lookedNs = Long.MIN_VALUE;
    /** The bytes on the fast tier that are newer than the recipe; null if there are none. */
    public @Nullable ChangedBytes changed;
    /** Whether it was created without a name and never had one; a file may still get one. */
    public boolean unnamed;

    public long accessedNs;
    public long modifiedNs;
    public long changedNs;

    /**
     * Number of kernel lookups, open files and calls in progress. Guarded by the {@link NodeTable}, not by the monitor.
     */
    long references;
    /** Number of references that are kernel lookups. Guarded by the {@link NodeTable}. */
    long lookups;
    /**
     * Whether a call used it since the clock hand of the {@link NodeTable} last passed it. Guarded by the
     * {@link NodeTable}.
     */
    boolean used;
    /** Whether the inode is being freed; set so that it is freed only once. */
    public boolean freed;

    /**
     * Number of times that accepted bytes could not be stored. An open file compares it with the number known when it
     * was opened.
     */
    int failures;
    /** Number of {@link #failures} that were reported. The next opening of the file reports the others. */
    public int failuresReported;

    @Nullable
    Throwable lastFailure;

    public @Nullable Contents contents;

    /** @param isInReplica whether only a receive changes the volume's files */
    Node(Inode inode, Account account, boolean isInReplica) {
        this.account = account;
        isFixed = isInReplica || SnapshotIds.isInSnapshot(inode.id());
        id = inode.id();
        type = inode.mode() & Modes.TYPE;
        device = inode.device();
        generation = (int) inode.generation();
        createdNs = inode.times().createdNs();
        mode = inode.mode();
        links = inode.links();
        size = inode.size();
        storedBytes = inode.size();
        dataBytes = inode.dataBytes();
        countedBytes = inode.dataBytes();
        parent = inode.parent();
        accessedNs = inode.times().accessedNs();
        modifiedNs = inode.times().modifiedNs();
        changedNs = inode.times().changedNs();
    }

    /**
     * Makes it another inode for the kernel, which with its write-back cache takes no other length for one that it
     * knows.
     */
    public synchronized void renew() {
        generation++;
        isRenewed = true;
    }

    /** Returns whether it was made another inode and nobody has asked since: then the kernel must look it up again. */
    public synchronized boolean takeRenewed() {
        boolean was = isRenewed;
        isRenewed = false;
        return was;
    }

    public synchronized int generation() {
        return generation;
    }

    /** Checks that programs may change the inode: one in a snapshot never changes, nor one in a replica. EROFS. */
    public void requireChangeable() throws PosixException {
        if (isFixed) {
            throw new PosixException(
                    Reason.EROFS,
                    SnapshotIds.isInSnapshot(id)
                            ? "inode " + id + " is in a snapshot, which never changes"
                            : "the volume is a replica, whose files only 'sdfscli VOLUME receive' changes");
        }
    }

    /** Returns whether {@link #requireChangeable} throws. */
    public boolean isFixed() {
        return isFixed;
    }

    public boolean isDirectory() {
        return type == Modes.DIRECTORY;
    }

    public boolean isRegular() {
        return type == Modes.REGULAR;
    }

    boolean isSymbolicLink() {
        return type == Modes.SYMBOLIC_LINK;
    }

    /**
     * Returns the inode as a commit makes it durable: a regular file is no longer than its recipe and its bytes in the
     * intent log.
     *
     * @param target target of a symbolic link, otherwise empty
     */
    public synchronized Inode toInode(byte[] target) {
        if (raw != null) {
            // The recipe may describe fewer bytes.
            return toInode(target, Math.max(size, storedBytes));
        }
        long kept = isRegular() ? Math.max(storedBytes, contents == null ? 0 : contents.loggedEnd()) : size;
        return toInode(target, kept);
    }

    private Inode toInode(byte[] target, long kept) {
        Inode.Times times = new Inode.Times(accessedNs, modifiedNs, changedNs, createdNs);
        return new Inode(
                id,
                generation,
                mode,
                links,
                account.uid(),
                account.gid(),
                account.project(),
                device,
                kept,
                dataBytes,
                parent,
                times,
                target);
    }

    public Attributes attributes() {
        return attributes(look());
    }

    /**
     * A look at the fast tier, for {@link #attributes(Look)}.
     *
     * @param raw the file's place there; null if it is not raw
     * @param status null if it is not raw, or cannot be examined at present
     * @param beganNs when it began, by {@link System#nanoTime}
     */
    public record Look(@Nullable RawFile raw, RandomFile.@Nullable Status status, long beganNs) {
        /** Of a file that is not raw. */
        public static final Look NONE = new Look(null, null, 0);
    }

    /** Looks at a raw file. To be called before any lock is acquired, because the fast tier may hang. */
    public Look look() {
        RawFile present = rawFile();
        if (present == null) {
            return Look.NONE;
        }
        long beganNs = System.nanoTime();
        return new Look(present, present.statusIfReadable(), beganNs);
    }

    /** Returns the attributes, of a raw file as an earlier look found them. */
    public synchronized Attributes attributes(Look earlier) {
        RawFile present = raw;
        RandomFile.Status status = present == earlier.raw ? earlier.status : null;
        if (present == null || status == null) {
            return attributes(inUseBytes());
        }
        // Another thread may have had the result of a later look before.
        if (earlier.beganNs >= lookedNs) {
            lookedNs = earlier.beganNs;
            size = status.size();
            modifiedNs = status.modifiedNs();
            changedNs = present.changedNs(status, changedNs);
        }
        return attributes(status.allocatedBytes());
    }

    /** Returns the time of the last change of its bytes as known without the fast tier, in nanoseconds since 1970. */
    public synchronized long modifiedNs() {
        return modifiedNs;
    }

    /** Notes by which folder a file was found, for its {@link Placements}. */
    public synchronized void noteFolder(long directory) {
        folder = directory;
        if (raw != null) {
            raw.noteFolder(directory);
        }
    }

    /** Returns the file's place on the fast tier; null if it is not raw. */
    public synchronized @Nullable RawFile rawFile() {
        return raw;
    }

    private Attributes attributes(long bytesInUse) {
        return new Attributes(
                id,
                generation,
                mode,
                links,
                account.uid(),
                account.gid(),
                device,
                size,
                (bytesInUse + 511) / 512,
                accessedNs,
                modifiedNs,
                changedNs,
                createdNs);
    }

    /**
     * Returns the bytes in use, without holes and zeros. Bytes that replace others may count twice while they are being
     * stored. Called with the monitor held.
     */
    public long inUseBytes() {
        if (!isRegular()) {
            return size;
        }
        long onFastTier = changed == null ? 0 : changed.bytes();
        return Math.min(size, dataBytes + onFastTier + (contents == null ? 0 : contents.takenBytes()));
    }

    /** Returns the account that it is charged to. */
    public synchronized Account account() {
        return account;
    }

    /** Sets the account; the quotas know. Called with the monitor held. */
    void setAccount(Account newAccount) {
        account = newAccount;
        if (raw != null) {
            raw.setAccount(newAccount);
        }
        if (changed != null) {
            changed.file().setAccount(newAccount);
        }
    }

    /** Returns what the account is charged for it. Called with the monitor held. */
    Quotas.Charge charge() {
        long notStored = contents == null ? 0 : contents.takenBytes() - contents.unsettled;
        return new Quotas.Charge(countedBytes, dataBytes + notStored);
    }

    /**
     * Forgets those bytes from {@code from} to {@code to} (exclusive) that are on the fast tier and newer than the
     * recipe, because the recipe has newer ones, or they are dropped. Called under the change lock.
     */
    public synchronized void dropChanged(long from, long to) {
        if (changed != null) {
            changed.remove(from, to);
            changed = changed.isEmpty() ? null : changed;
        }
    }

    /** Returns false if it is known that the inode has no extended attributes. */
    public synchronized boolean mayHaveAttributes() {
        return attributes != Presence.NONE;
    }

    /** Returns the inode number of the directory that currently contains this one. */
    public synchronized long parent() {
        return parent;
    }

    /** Returns the number of the project that it is charged to; 0 if there is none. */
    public synchronized int project() {
        return account.project();
    }

    /** Returns the current length in bytes, as readers see it. */
    public synchronized long size() {
        return size;
    }

    /**
     * Returns the offset of the first byte at or after {@code from} that is newer than the recipe;
     * {@link Long#MAX_VALUE} if there is none. Called with the monitor held.
     */
    public long nextNewer(long from) {
        Contents used = contents();
        long next = used.dirty.nextPresent(from);
        next = used.stored == null ? next : Math.min(next, used.stored.nextPresent(from));
        return changed == null ? next : Math.min(next, changed.nextPresent(from));
    }

    /**
     * Returns the offset of the first byte at or after {@code from} that is not newer than the recipe. Called with the
     * monitor held.
     */
    public long nextNotNewer(long from) {
        Contents used = contents();
        long at = from;
        long next = from;
        do {
            at = next;
            next = used.dirty.nextAbsent(next);
            next = used.stored == null ? next : used.stored.nextAbsent(next);
            next = changed == null ? next : changed.nextAbsent(next);
        } while (next > at);
        return at;
    }

    /** Returns the contents of a regular file in use. */
    public synchronized Contents contents() {
        if (contents == null) {
            throw new IllegalStateException("inode " + id + " is not open");
        }
        return contents;
    }

    /** Ensures that the file has exactly one {@link Contents} until {@link #leave}. */
    public synchronized Contents use(DirtyBudget budget, Capacity capacity) {
        if (contents == null) {
            contents = new Contents(this, budget, capacity);
        }
        contents.users++;
        return contents;
    }

    public synchronized void leave() {
        contents().users--;
        dropIfIdle();
    }

    /** Drops contents that have no users and no bytes left to store. Called with the monitor held. */
    public void dropIfIdle() {
        if (contents != null && contents.users == 0 && contents.isClean()) {
            assert contents.loggedEnd() == 0 : "inode " + id + " has bytes in the intent log that are not dirty";
            contents = null;
        }
    }

    /** Waits until the file is not being truncated. The caller holds no storing lock: the truncation may commit. */
    public synchronized void awaitNotCutting() throws IOException {
        awaitEnd(this::isCutting);
    }

    /** Returns whether the file is being truncated. No truncation begins while its storing lock is held. */
    public synchronized boolean isCutting() {
        return contents != null && contents.cutting;
    }

    /**
     * Waits until the file takes writes: it is neither being truncated nor has {@linkplain #pauseWrites paused} them.
     */
    public synchronized void awaitWritable() throws IOException {
        awaitEnd(() -> contents != null && (contents.cutting || contents.pauses > 0));
    }

    /**
     * Makes writes of the file wait until {@link #resumeWrites}. Called with its storing lock held: then all dirty
     * bytes can be stored, and the recipe is the file as it is at that moment.
     */
    public synchronized void pauseWrites() {
        contents().pauses++;
    }

    public synchronized void resumeWrites() {
        contents().pauses--;
        notifyAll();
    }

    /** Ends a truncation: the truncated tail is removed, is being removed in the background, or cannot be removed. */
    public synchronized void endCutting() {
        contents().cutting = false;
        notifyAll();
    }

    /** Waits until no change of the file is half done. */
    public synchronized void awaitWhole() throws IOException {
        awaitEnd(() -> contents().isHalfDone);
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

    /**
     * Begins a change of several recipe pages, or of the recipe and of what is newer than it. Until {@link #endChange},
     * the file has no bytes and no end to show. Called with its storing lock held.
     */
    public synchronized void beginChange() {
        contents().isHalfDone = true;
    }

    public synchronized void endChange() {
        contents().isHalfDone = false;
        contents().completions++;
        notifyAll();
    }

    /** Records that accepted bytes could not be stored. */
    public synchronized void noteFailure(Throwable failure) {
        failures++;
        lastFailure = failure;
    }

    /** Returns whether accepted bytes were given up because of this failure, which is the latest. */
    public synchronized boolean isLost(Throwable failure) {
        return lastFailure == failure;
    }

    /** Throws if accepted bytes could not be stored and this was not reported yet. */
    public synchronized void checkNotFailed() throws IOException {
        checkNotFailed(failuresReported);
    }

    /**
     * Throws if accepted bytes could not be stored, except for failures that the caller knows.
     *
     * @param known number of failures that were reported before the caller opened the file
     */
    public synchronized void checkNotFailed(int known) throws IOException {
        if (failures == known) {
            return;
        }
        failuresReported = failures;
        if (lastFailure instanceof NoSpaceException || lastFailure instanceof PosixException) {
            throw (IOException) lastFailure;
        }
        throw new IOException(
                "bytes written to inode " + id + " could not be stored; open the file again", lastFailure);
    }

    /** The state of a regular file that is open or has dirty bytes. */
    public static final class Contents {
        /**
         * Held while bytes are stored, truncated, punched or copied: one run of a file at a time. Acquired before any
         * other lock. Of two files, the one with the lower inode number is locked first. Fair, so that a commit that
         * stores the file gets the lock between the steps of a long copy.
         */
        public final ReentrantLock storing = new ReentrantLock(true);

        private final Node node;
        private final Capacity capacity;
        /** Capacity in bytes that is taken for bytes about to be stored in chunks. */
        private long prepaid;
        /** Change of the number of bytes stored in chunks since {@link #prepaid} was last reduced for such a change. */
        private long unsettled;
        /** Whether changes of the recipe are {@link #prepaid}. */
        private boolean settling;

        private final boolean wasEmpty;
        public final DirtyExtents dirty;
        /** What was taken out of {@link #dirty} and is being stored; still read from memory. */
        public DirtyExtents.@Nullable Run stored;
        /** Which of the dirty bytes the intent log has; null if it never had any. Changed by {@link IntentLog}. */
        public @Nullable FileIntents intents;

        /** See {@link org.opendedup.sar.ingest.IngestPipeline.Destination#cleanCut}. */
        public long cleanCut = -1;
        /** Time at which the oldest dirty byte was written, by {@link System#nanoTime}. */
        public long dirtySinceNs;

        /** Number of open files, and of calls in progress that need this object to stay the only one of the file. */
        public int users;
        /** Number of openings for writing. */
        public int writers;

        /**
         * Counter of changes that make a concurrent read invalid: stored runs, truncations, and zeroed or copied
         * ranges. A reader that sees it change during a read must retry.
         */
        public long completions;

        /** Attempts to store dirty bytes that failed because a disk could not be read. */
        public final StoreAttempts attempts = new StoreAttempts();

        /** Whether a task that stores bytes of this file is waiting or running. */
        public boolean scheduled;
        /** Whether the file is being truncated: nothing is stored meanwhile, and its length does not change. */
        public boolean cutting;
        /** Number of callers for which writes wait. */
        int pauses;
        /** True from {@link #beginChange} to {@link #endChange}; a read waits, or is retried. */
        public boolean isHalfDone;

        Contents(Node node, DirtyBudget budget, Capacity capacity) {
            this.node = node;
            this.capacity = capacity;
            wasEmpty = node.size == 0;
            dirty = new DirtyExtents(budget, bytes -> change(-bytes));
        }

        /**
         * Acquires {@link #storing} while the file is not being truncated. Waits for the end of a truncation without
         * the lock: a commit may wait for the lock, and the truncation for a commit.
         */
        public void lockUncut() throws IOException {
            storing.lock();
            while (node.isCutting()) {
                storing.unlock();
                node.awaitNotCutting();
                storing.lock();
            }
        }

        /** Changes the capacity that the file takes, for its account. Called with the node's monitor held. */
        private void change(long bytes) {
            capacity.change(node.account, bytes);
        }

        /** Returns the capacity in bytes that is taken for bytes that wait to be stored or are being stored. */
        long takenBytes() {
            return dirty.takenBytes() + prepaid;
        }

        /** Counts capacity that was taken for bytes about to be stored in chunks. Lasts until {@link #settleAll}. */
        public void prepay(long bytes) {
            settling = true;
            prepaid += bytes;
        }

        /** Records a change of the number of bytes stored in chunks, according to the recipe. */
        void noteData(long more) {
            if (settling) {
                unsettled += more;
            } else {
                change(more);
            }
        }

        /** Replaces {@code bytes} of the prepaid capacity by the changes recorded since the last call, both at once. */
        public void settle(long bytes) {
            change(unsettled - bytes);
            prepaid -= bytes;
            unsettled = 0;
        }

        /** Ends the prepayment, and releases the prepaid capacity that was not needed. */
        public void settleAll() {
            settle(prepaid);
            settling = false;
        }

        /** Returns the end of the bytes in the intent log; 0 if there are none. */
        public long loggedEnd() {
            return intents == null ? 0 : intents.end();
        }

        /**
         * Takes bytes of a file out of the intent log, because they are stored or dropped. Called under the change
         * lock. The size that a sync acknowledged stays: what is not stored below it is a hole.
         */
        public void dropLogged(long from, long to) {
            if (intents == null) {
                return;
            }
            long size = intents.end();
            intents.drop(from, to);
            if (intents.isEmpty()) {
                node.storedBytes = Math.max(node.storedBytes, size);
            }
        }

        /**
         * Drops everything at or after a file's new end, also from the intent log and the fast tier. Called under the
         * change lock.
         */
        public void truncate(long newSize) {
            dirty.truncate(newSize);
            node.dropChanged(newSize, Long.MAX_VALUE);
            if (intents != null) {
                intents.truncate(newSize);
            }
        }

        /** Drops dirty bytes, also from the intent log and the fast tier. Called under the change lock. */
        public void remove(long from, long to) {
            dirty.remove(from, to);
            node.dropChanged(from, to);
            dropLogged(from, to);
        }

        /** Returns whether every byte of the range is newer than the recipe. */
        public boolean covers(long offset, int length) {
            return dirty.covers(offset, length) || stored != null && stored.covers(offset, length);
        }

        /**
         * Copies the bytes that are newer than the recipe into {@code target}, whose position corresponds to
         * {@code offset}.
         */
        public void overlay(long offset, int length, ByteBuffer target) {
            if (stored != null) {
                stored.overlay(offset, length, target);
            }
            dirty.overlay(offset, length, target);
        }

        /** Returns whether the file was empty when its use began: it is new, and was not migrated before. */
        public boolean wasEmpty() {
            return wasEmpty;
        }

        public boolean isClean() {
            return dirty.isEmpty() && stored == null;
        }
    }
}
