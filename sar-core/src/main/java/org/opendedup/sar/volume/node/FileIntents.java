package org.opendedup.sar.volume.node;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.metadata.IntentRecords;
import org.opendedup.sar.metadata.record.IntentRecord;

/**
 * The part of the intent log that concerns one file: which of its dirty bytes the log has. The records follow each
 * other as the changes did: a record for each range that was written since the last one, and one for each range that
 * was stored or dropped while others stay in the log. When the log has no byte of the file left, all records go.
 *
 * <p>Changed under the change lock with the file's {@link Node} as monitor, in the order of the changes of recipe and
 * size, so that a commit has both or neither.
 */
public final class FileIntents {
    /** What a record counts in addition to its value, in bytes: key and bookkeeping in the pending metadata. */
    public static final int RECORD_BYTES = 64;
    /** Maximum number of bytes of a file's records. More are superseded by storing the file once. */
    public static final long MAX_BYTES = 256 << 10;

    private final IntentRecords records;
    private final long inode;
    /** Bytes of the records of all files. */
    private final AtomicLong total;

    private final ByteRanges logged = new ByteRanges();
    /** Number of the next record. */
    private long next;

    private long bytes;
    private long end;

    public FileIntents(IntentRecords records, long inode, AtomicLong total) {
        this.records = records;
        this.inode = inode;
        this.total = total;
    }

    /** Returns the size that the file has at least by the log, in bytes; 0 if the log has none of its bytes. */
    long end() {
        return end;
    }

    /** Returns the bytes of the file's records. */
    public long bytes() {
        return bytes;
    }

    /** Adds all dirty bytes that the log does not have. */
    public void log(DirtyExtents dirty) {
        for (ByteRanges.Range range : dirty.unlogged().ranges()) {
            put(new IntentRecord(next, range.from(), range.bytes(), dirty.copy(range.from(), (int) range.bytes())));
            logged.add(range.from(), range.to());
            end = Math.max(end, range.to());
        }
        dirty.unlogged().clear();
    }

    /** Returns the bytes of a range that the log has. */
    public List<ByteRanges.Range> within(long from, long to) {
        return logged.within(from, to);
    }

    /** Takes bytes out of the log, because they are stored or dropped. */
    void drop(long from, long to) {
        boolean hadBytes = logged.remove(from, to);
        if (logged.isEmpty()) {
            clear();
        } else if (!hadBytes) {
            return;
        } else {
            put(new IntentRecord(next, from, to - from, null));
        }
    }

    /** Takes everything at or after a file's new end out of the log. */
    void truncate(long size) {
        drop(size, Long.MAX_VALUE);
        end = Math.min(end, size);
    }

    private void put(IntentRecord record) {
        count(records.put(inode, record));
    }

    private void count(long valueBytes) {
        next++;
        bytes += valueBytes + RECORD_BYTES;
        total.addAndGet(valueBytes + RECORD_BYTES);
    }

    /** Removes all records. */
    void clear() {
        records.remove(inode, next);
        total.addAndGet(-bytes);
        logged.clear();
        next = 0;
        bytes = 0;
        end = 0;
    }

    /** Counts the records no longer, because one of them cannot be read. They stay. */
    public void leave() {
        total.addAndGet(-bytes);
    }

    /** Notes a record that the log has since before the volume was opened, and whose bytes are dirty again. */
    public void noteFound(IntentRecord record) {
        byte[] written = record.bytes();
        count(written == null ? 0 : written.length);
        if (written == null) {
            logged.remove(record.offset(), record.end());
        } else {
            logged.add(record.offset(), record.end());
            end = Math.max(end, record.end());
        }
    }

    /** Returns whether the log has any byte of the file. */
    public boolean isEmpty() {
        return logged.isEmpty();
    }
}
