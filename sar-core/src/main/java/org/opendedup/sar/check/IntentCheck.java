package org.opendedup.sar.check;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.repair.Corrections;

/**
 * Compares the records of the intent log with the inodes: each belongs to a file, can be decoded, follows the one
 * before, and lies within the file.
 */
final class IntentCheck implements Closeable {
    private final Ahead<IntentRecord> intents;
    private final CheckFindings findings;
    private final Corrections corrections;

    IntentCheck(MetadataRecords records, CheckFindings findings, Corrections corrections) throws IOException {
        this.findings = findings;
        this.corrections = corrections;
        intents = new Ahead<>(records.intents());
    }

    /** Returns the number of the inode of the next record; {@link Long#MAX_VALUE} if there is none. */
    long next() {
        return intents.id();
    }

    /**
     * Checks the records of an inode, which may have none.
     *
     * @param exists whether the inode has a record
     * @param inode null if that is damaged
     */
    void check(long id, boolean exists, @Nullable Inode inode) throws IOException {
        if (intents.id() != id) {
            return;
        }
        if (!exists || inode != null && (inode.mode() & Modes.TYPE) != Modes.REGULAR) {
            findings.add(
                    Severity.DEFECT, Kind.REFERENCES, "the intent log has bytes of inode " + id + ", which is no file");
            corrections.intents(id, false);
        }
        long number = 0;
        long end = 0;
        boolean isDamaged = false;
        for (; intents.id() == id; intents.next()) {
            IntentRecord record = intents.value();
            isDamaged |= record == null || record.number() != number;
            number++;
            if (record != null && record.bytes() != null) {
                end = Math.max(end, record.end());
            }
        }
        if (inode == null || (inode.mode() & Modes.TYPE) != Modes.REGULAR) {
            return;
        }
        if (isDamaged) {
            int finding = findings.add(
                    Severity.LOSS,
                    Kind.DAMAGED_RECORD,
                    "a record of the intent log of inode " + id + " is damaged or missing: its file cannot be opened");
            findings.damaged(finding, id, 0, Math.max(end, inode.size()));
            corrections.intents(id, true);
        }
        if (end > inode.size() && inode.links() > 0) {
            findings.add(
                    Severity.DEFECT,
                    Kind.REFERENCES,
                    "the intent log of inode " + id + " continues past the end of the file");
            corrections.size(id, end);
        }
    }

    @Override
    public void close() {
        intents.close();
    }
}
