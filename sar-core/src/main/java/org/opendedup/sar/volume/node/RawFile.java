package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.volume.commit.Committer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of which all bytes are in a backing file on the fast tier, or those that were changed since it was migrated
 * ({@link ChangedBytes}). While anybody uses it, the backing file is open, with one descriptor for all. Its monitor is
 * acquired after a node's, if both are held. No call of the fast tier is made with the monitor held: the fast tier may
 * hang, and changes wait for the monitor with the change lock held.
 */
public final class RawFile {
    private static final Logger log = LoggerFactory.getLogger(RawFile.class);

    /** Value of {@link #writtenAfter} of a file that was forced since it was written. */
    private static final long FORCED = -1;
    /** Value of {@link #copiedAt} while the recipe is not known to be current. */
    private static final int NOT_COPIED = -1;

    private final long inode;
    private final RawPlace place;
    private volatile Account account;

    // All guarded by this.
    private RawRecord record;
    /** The generation that has the last change of the record; see {@link Committer#generation}. */
    private long generation;

    private @Nullable RandomFile file;
    /** Whether the kernel may read and write the file itself; stays as it is while anybody uses the file. */
    private boolean isForKernel;

    private int users;
    private int writers;
    private int copies;
    /** The value of {@link #copies} when the recipe was last known to be current. */
    private int copiedAt = NOT_COPIED;

    private long accessedMs;
    /** The last sync of the fast tier that began before the file was last written. */
    private long writtenAfter;
    /** Length, and bytes on the fast tier, when they were last looked at. Of a part, both are the bytes. */
    private long knownSize;

    private long knownBytes;
    /** Whether the fast tier did not have the backing file then. */
    private boolean knownMissing;
    /** Status of the backing file when it was made in this mount; null if it was not. */
    private RandomFile.@Nullable Status asMade;

    /** Whether it was to get longer than the fast tier's file system lets a file be. */
    private volatile boolean outgrown;

    /** The generation in which its record lost a range of changed bytes last. */
    private volatile long shrunkIn = -1;

    /** Time of the next attempt to copy it after one that failed, in milliseconds since 1970. */
    private volatile long copyNotBeforeMs;

    /** How often it was opened since the mount. */
    private int openings;
    /** Inode number of the folder by which it was found or made last; 0 if that is not known. A hint, for the order. */
    private volatile long folder;
    /** Number of looks at the status that began, and the number of the one that is known. */
    private long looks;

    private long knownLook;

    /**
     * @param place the folder of the backing files
     * @param account what its inode is charged to
     * @param accessedMs time of the last access, in milliseconds since 1970
     * @param generation the generation that has its record
     */
    public RawFile(long inode, RawRecord record, RawPlace place, Account account, long accessedMs, long generation) {
        this.account = account;
        this.inode = inode;
        this.record = record;
        this.place = place;
        this.accessedMs = accessedMs;
        this.generation = generation;
    }

    public void copyNotBefore(long ms) {
        copyNotBeforeMs = ms;
    }

    public boolean mayBeCopied(long nowMs) {
        return copyNotBeforeMs <= nowMs;
    }

    public long inode() {
        return inode;
    }

    /** Returns what its inode is charged to. */
    public Account account() {
        return account;
    }

    public void setAccount(Account newAccount) {
        account = newAccount;
    }

    /** Returns the number of the backing file. */
    public synchronized long number() {
        return record.number();
    }

    public synchronized RawRecord record() {
        return record;
    }

    /** Called under the change lock by the code that puts the record into the pending metadata. */
    public synchronized void setRecord(RawRecord newRecord, long inGeneration) {
        record = newRecord;
        generation = inGeneration;
    }

    /** Returns the generation that has the last change of the record. */
    public synchronized long generation() {
        return generation;
    }

    public synchronized long accessedMs() {
        return accessedMs;
    }

    public synchronized void noteAccess(long ms) {
        accessedMs = Math.max(accessedMs, ms);
    }

    /** Records an opening. */
    public synchronized void noteOpening(long ms) {
        openings++;
        noteAccess(ms);
    }

    public synchronized int openings() {
        return openings;
    }

    public long folder() {
        return folder;
    }

    public void noteFolder(long directory) {
        folder = directory;
    }

    public synchronized long knownSize() {
        return knownSize;
    }

    public synchronized long knownBytes() {
        return knownBytes;
    }

    /** Returns whether the fast tier did not have the backing file when it was last looked at. */
    public synchronized boolean isKnownMissing() {
        return knownMissing;
    }

    public synchronized boolean isInUse() {
        return users > 0;
    }

    public synchronized boolean hasWriters() {
        return writers > 0;
    }

    /**
     * Opens the backing file, or adds a user to it. A writer breaks a copy that is being made.
     *
     * @throws NoSuchFileException if the fast tier does not have the backing file
     */
    public RandomFile use(boolean writable) throws IOException {
        RandomFile opened = useOpened(writable);
        if (opened != null) {
            return opened;
        }
        RandomFile own = place.folder().open(number());
        RandomFile used = use(writable, own);
        if (used != own) {
            // Another user opened it at the same time.
            own.close();
        }
        return used;
    }

    /** Adds a user, if the backing file is open. */
    private synchronized @Nullable RandomFile useOpened(boolean writable) {
        return file == null ? null : use(writable, file);
    }

    /** Adds a user. Returns the descriptor of all, which is {@code own} if there was none. */
    private synchronized RandomFile use(boolean writable, RandomFile own) {
        isForKernel = file == null ? place.space().isAmple(account) : isForKernel;
        RandomFile used = file == null ? own : file;
        file = used;
        users++;
        if (writable) {
            writers++;
            copies++;
            noteWritten();
        }
        return used;
    }

    /**
     * Adds the first user, with a backing file that was just made.
     *
     * @param empty its status
     */
    public synchronized void begin(RandomFile made, RandomFile.Status empty) {
        asMade = empty;
        isForKernel = place.space().isAmple(account);
        file = made;
        users = 1;
        writers = 1;
        noteWritten();
    }

    private synchronized void noteWritten() {
        writtenAfter = place.lastBegun();
        place.noteWritten();
    }

    /** Returns whether nobody writes the file, and all that was written is durable. */
    public synchronized boolean isForced() {
        return writers == 0
                && (writtenAfter == FORCED || place.isSyncedAfter(writtenAfter) && !place.hasFailedSince(writtenAfter));
    }

    /** Ends one use. The last one closes the backing file. */
    public void leave(boolean writable) {
        RandomFile last = lastAfter(writable);
        if (last != null) {
            try {
                long look = beginLook();
                note(look, last.status());
            } catch (IOException e) {
                // The next look at it tells its length.
                log.debug("inode {} cannot be examined: {}", inode, e.getMessage());
            }
            last.close();
        }
    }

    /** Removes a user. Returns the descriptor if it was the last one: nobody else has it then. */
    private synchronized @Nullable RandomFile lastAfter(boolean writable) {
        if (writable) {
            writers--;
            noteWritten();
        }
        if (--users > 0) {
            return null;
        }
        RandomFile last = file;
        file = null;
        return last;
    }

    private synchronized long beginLook() {
        return ++looks;
    }

    /** Takes a status for the known one, unless a later look was faster. */
    private synchronized void note(long look, RandomFile.@Nullable Status status) {
        if (look > knownLook) {
            knownLook = look;
            knownMissing = status == null;
            knownBytes = status == null ? 0 : status.allocatedBytes();
            // The length of a part is that of the file, and says nothing of what is there.
            knownSize = status == null || RawNumbers.isPart(record.number()) ? knownBytes : status.size();
        }
    }

    /**
     * Makes the bytes and the length of the backing file durable.
     *
     * @param failed receives the failure, to tell all openings: they share one descriptor, which the kernel tells once
     */
    public void force(Consumer<IOException> failed) throws IOException {
        RandomFile opened = use(false);
        try {
            int before = ticket();
            opened.force();
            noteForced(before);
        } catch (IOException e) {
            failed.accept(e);
            throw e;
        } finally {
            leave(false);
        }
    }

    private synchronized void noteForced(int ticket) {
        if (writers == 0 && !isCopyBroken(ticket)) {
            writtenAfter = FORCED;
        }
    }

    /** Changes the length, in bytes. */
    public void truncate(long size) throws IOException {
        RandomFile opened = use(true);
        try {
            grow(() -> opened.truncate(size));
        } finally {
            leave(true);
        }
    }

    /** Makes a change of the backing file that may make it longer. */
    public void grow(Closing.Step change) throws IOException {
        try {
            change.run();
        } catch (PosixException e) {
            outgrown |= e.reason() == Reason.EFBIG;
            throw e;
        }
    }

    /** Returns whether it was to get longer than the fast tier's file system lets a file be: it belongs into chunks. */
    public boolean isOutgrown() {
        return outgrown;
    }

    /** Has what is here stored in chunks as soon as possible. */
    public void noteOutgrown() {
        outgrown = true;
    }

    /** Returns whether the backing file has changed bytes of a file in chunks only. */
    public boolean isPart() {
        return RawNumbers.isPart(number());
    }

    /** Records that its record lost a range of changed bytes. Called under the change lock. */
    public void noteShrunk(long inGeneration) {
        shrunkIn = inGeneration;
    }

    public long shrunkIn() {
        return shrunkIn;
    }

    /** Sets the time of the last change of its bytes, in nanoseconds since 1970. */
    public void setModified(long ns) throws IOException {
        RandomFile opened = use(false);
        try {
            opened.setModified(ns);
            noteTimeSet();
        } finally {
            leave(false);
        }
    }

    /** Has a migration that looked at the file before look again. */
    private synchronized void noteTimeSet() {
        copies++;
        noteWritten();
    }

    /**
     * Returns the descriptor of the backing file, as {@link #backing} does; -1 if the kernel may not write it itself.
     */
    public synchronized int descriptorForKernel() {
        return isForKernel ? backing().descriptor() : -1;
    }

    /** Grants a user's write of a range, which may make the file longer. ENOSPC, EDQUOT. */
    public void admitWrite(long offset, long length, boolean mayUseReserve) throws IOException {
        long longer = offset + length - backing().status().size();
        place.space().grant(account, Math.min(length, longer), mayUseReserve);
    }

    /**
     * Grants the allocation of a range to a user. ENOSPC; if it is more than the raw files' share of the fast tier has,
     * the file goes to chunks, as one that is too long.
     */
    public void admitAllocation(long offset, long length, boolean mayUseReserve) throws IOException {
        long more = Math.min(length, offset + length - backing().status().allocatedBytes());
        if (!place.space().isInShare(more)) {
            outgrown = true;
            throw new NoSpaceException(
                    "inode " + inode + " is to take " + more + " bytes, more than the fast tier has for it");
        }
        place.space().grant(account, more, mayUseReserve);
    }

    /** Returns the backing file of a caller that is registered as a user. */
    public synchronized RandomFile backing() {
        if (file == null) {
            throw new IllegalStateException("the backing file of inode " + inode + " is not open");
        }
        return file;
    }

    /** Returns the present status of the backing file; null if the fast tier does not have it. */
    public RandomFile.@Nullable Status status() throws IOException {
        long look = beginLook();
        // By its name: the last user may close the descriptor, which is that of another file then.
        RandomFile.Status status = place.folder().status(number());
        note(look, status);
        return status;
    }

    /** Returns the present status; null if the backing file is missing, or cannot be examined at present. */
    public RandomFile.@Nullable Status statusIfReadable() {
        try {
            return status();
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Returns the time of the last change, in nanoseconds since 1970.
     *
     * @param status of the backing file
     * @param beforeNs time of the last change when the file was not raw, or of its attributes
     */
    public synchronized long changedNs(RandomFile.Status status, long beforeNs) {
        // That the backing file was made is no change of the file.
        return status.equals(asMade) ? beforeNs : Math.max(beforeNs, status.changedNs());
    }

    /** Returns whether no process, this one included, has the backing file open for writing or mapped for writing. */
    public boolean isAtRest() throws IOException {
        return place.folder().isAtRest(number());
    }

    /** Returns whether no process has the backing file open or mapped: a mapping may outlive its descriptor. */
    public boolean isUnused() throws IOException {
        return place.folder().isUnused(number());
    }

    /** What changes when the file is opened, gets a time or is copied. */
    public record Seen(int copies, int openings) {}

    /** Returns the present state, for {@link #isAsSeen}. */
    public synchronized Seen seen() {
        return new Seen(copies, openings);
    }

    /** Returns whether the file was not opened, got no time and was not copied since {@link #seen}. */
    public synchronized boolean isAsSeen(Seen earlier) {
        return earlier.equals(new Seen(copies, openings));
    }

    /** Returns whether the recipe has all bytes of the backing file as it is now. */
    public boolean isCopied() throws IOException {
        RawRecord.Copy copy = record().copy();
        // Looks also at a file that no recipe has: callers ask afterwards whether it is missing.
        RawRecord.Copy present = copyOf(look());
        return copy != null && copy.equals(present);
    }

    /**
     * Notes whether the recipe has all bytes of the backing file as it is now.
     *
     * @return its status; null if the fast tier does not have it
     */
    public RandomFile.@Nullable Status look() throws IOException {
        int ticket = ticket();
        RawRecord.Copy copy = record().copy();
        RandomFile.Status status = status();
        // A mapping that outlived its descriptor may have changed a file that was found current before.
        noteCopied(copy != null && copy.equals(copyOf(status)) ? ticket : NOT_COPIED);
        return status;
    }

    /** Records that the recipe is current if no user has written since {@link #ticket}. */
    public synchronized void noteCopied(int ticket) {
        copiedAt = ticket;
    }

    /** Returns whether the recipe was found current, and nobody opened the file for writing since. */
    public synchronized boolean isKnownCopied() {
        return copiedAt == copies && record.copy() != null;
    }

    public static RawRecord.@Nullable Copy copyOf(RandomFile.@Nullable Status status) {
        return status == null ? null : new RawRecord.Copy(status.size(), status.changedNs());
    }

    /** Begins a copy into chunks. Returns a ticket for {@link #isCopyBroken}; -1 if the file has writers. */
    public synchronized int beginCopy() {
        return writers > 0 ? -1 : ++copies;
    }

    /**
     * Returns a ticket that {@link #isCopyBroken} accepts until the file is opened for writing, gets a time, or is
     * copied.
     */
    public synchronized int ticket() {
        return copies;
    }

    /** Returns whether the file was opened for writing or got a time since its copy began, or another copy began. */
    public synchronized boolean isCopyBroken(int ticket) {
        return copies != ticket;
    }
}
