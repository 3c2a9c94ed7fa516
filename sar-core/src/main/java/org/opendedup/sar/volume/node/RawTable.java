package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.RawNumbers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a volume that have a backing file on the fast tier, by inode number. */
public final class RawTable {
    /** Heap size of a raw file and its place in the table, in bytes. */
    public static final int FILE_BYTES = 256;

    private static final Logger log = LoggerFactory.getLogger(RawTable.class);
    private static final int MAX_OUTGROWN = 10_000;

    private final ConcurrentHashMap<Long, RawFile> files = new ConcurrentHashMap<>();
    /** Inodes whose records are damaged. */
    private final Set<Long> unreadable = ConcurrentHashMap.newKeySet();
    /** Inodes that are too long for the fast tier. */
    private final Set<Long> outgrown = ConcurrentHashMap.newKeySet();

    private ChangedBytes.@Nullable Keeper keeper;
    /** Number of ranges of changed bytes of all files. */
    private final AtomicLong ranges = new AtomicLong();

    /** Number of files of which the fast tier has changed bytes only. */
    private final AtomicLong parts = new AtomicLong();

    /** Sets what keeps the records of changed bytes. Called before any node is made. */
    public void keepBy(ChangedBytes.Keeper changes) {
        keeper = changes;
    }

    /** Gives a new node its bytes on the fast tier. */
    void attach(Node node) {
        RawFile file = get(node.id);
        if (file != null && file.isPart()) {
            node.changed = new ChangedBytes(file, Objects.requireNonNull(keeper));
        } else {
            node.raw = file;
        }
    }

    /** Reads all records. Called before any node is made. */
    public void load(MetadataStore metadata, RawPlace place) throws IOException {
        try (RecordCursor<RawRecord> records = metadata.raws().all()) {
            while (records.next()) {
                RawRecord record = records.value();
                if (record == null || !isOf(records.id(), record)) {
                    // Its backing file stays, for a restore of the metadata. The other files can be used.
                    log.error(
                            "the record that says where on the fast tier inode {} lies is damaged: its file cannot be"
                                    + " opened",
                            records.id());
                    noteUnreadable(records.id());
                } else {
                    put(new RawFile(records.id(), record, place, accountOf(records.id(), metadata), 0, -1));
                }
            }
        }
    }

    /** Returns the account of an inode; that of root if its record cannot be read, because the file can't be used. */
    private static Account accountOf(long inode, MetadataStore metadata) throws IOException {
        try {
            Inode found = metadata.namespace().inode(inode);
            if (found != null) {
                return metadata.account(found);
            }
        } catch (CorruptionException | UnsupportedFormatException e) {
            log.debug("the owner of inode {} is not known", inode, e);
        }
        return metadata.quotas().account(0, 0, 0);
    }

    /**
     * Returns whether a record names a backing file of the kind that it describes, and of its inode if that is known.
     */
    private static boolean isOf(long inode, RawRecord record) {
        boolean isPart = record.changed() != null;
        return RawNumbers.isPart(record.number()) == isPart && (isPart || RawNumbers.inode(record.number()) == inode);
    }

    /** Records that the record of an inode is damaged: nobody knows where its bytes are. */
    void noteUnreadable(long inode) {
        unreadable.add(inode);
    }

    /** Returns whether any record is damaged. */
    public boolean hasUnreadable() {
        return !unreadable.isEmpty();
    }

    public boolean isUnreadable(long inode) {
        return !unreadable.isEmpty() && unreadable.contains(inode);
    }

    /** Forgets that; returns whether it was so. */
    public boolean forgetUnreadable(long inode) {
        return unreadable.remove(inode);
    }

    /** Keeps an inode that {@linkplain RawFile#isOutgrown outgrew} the fast tier from becoming raw again. */
    public void noteOutgrown(long inode) {
        if (outgrown.size() >= MAX_OUTGROWN) {
            // One that becomes raw again fails once more.
            outgrown.clear();
        }
        outgrown.add(inode);
    }

    public boolean isOutgrown(long inode) {
        return !outgrown.isEmpty() && outgrown.contains(inode);
    }

    public void forgetOutgrown(long inode) {
        outgrown.remove(inode);
    }

    /** Throws if the record of an inode is damaged. */
    public void checkReadable(long inode) throws CorruptionException {
        if (isUnreadable(inode)) {
            throw new CorruptionException(
                    "place of inode " + inode + " on the fast tier",
                    -1,
                    "a sound record",
                    "a damaged one; see the log");
        }
    }

    public @Nullable RawFile get(long inode) {
        return files.isEmpty() ? null : files.get(inode);
    }

    public void put(RawFile file) {
        if (files.put(file.inode(), file) != file) {
            ranges.addAndGet(ranges(file.record()));
            parts.addAndGet(file.isPart() ? 1 : 0);
        }
    }

    /** Exchanges the record of a file that is in the table. Called under the change lock. */
    public void setRecord(RawFile file, RawRecord record, long generation) {
        ranges.addAndGet(ranges(record) - ranges(file.record()));
        file.setRecord(record, generation);
    }

    public void remove(RawFile file) {
        if (files.remove(file.inode(), file)) {
            ranges.addAndGet(-ranges(file.record()));
            parts.addAndGet(file.isPart() ? -1 : 0);
        }
    }

    private static int ranges(RawRecord record) {
        List<ByteRanges.Range> changed = record.changed();
        return changed == null ? 0 : changed.size();
    }

    public Collection<RawFile> all() {
        return files.values();
    }

    public long size() {
        return files.mappingCount();
    }

    /** Returns the number of files of which the fast tier has changed bytes only. */
    public long parts() {
        return parts.get();
    }

    /** Returns how many files would take as much heap as those of the table: a range takes no more than a file. */
    public long weight() {
        return size() + ranges.get();
    }
}
