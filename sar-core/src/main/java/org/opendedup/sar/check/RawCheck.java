package org.opendedup.sar.check;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.repair.Corrections;

/**
 * Compares the records of raw files with the inodes: each belongs to a file, and can be decoded. What the recipe of a
 * raw file has is no concern of it, because a copy into chunks may have ended early.
 */
final class RawCheck implements Closeable {
    private final Ahead<RawRecord> raws;
    private final CheckFindings findings;
    private final Corrections corrections;

    RawCheck(MetadataRecords records, CheckFindings findings, Corrections corrections) throws IOException {
        this.findings = findings;
        this.corrections = corrections;
        raws = new Ahead<>(records.raws());
    }

    /** Returns the number of the inode of the next record; {@link Long#MAX_VALUE} if there is none. */
    long next() {
        return raws.id();
    }

    /**
     * Checks the record of an inode, which may have none.
     *
     * @param exists whether the inode has a record
     * @param inode null if that is damaged
     */
    void check(long id, boolean exists, @Nullable Inode inode) throws IOException {
        for (; raws.id() == id; raws.next()) {
            if (!exists || inode != null && (inode.mode() & Modes.TYPE) != Modes.REGULAR) {
                findings.add(
                        Severity.DEFECT,
                        Kind.REFERENCES,
                        "inode " + id + ", which is no file, has a record of a file on the fast tier");
                corrections.raw(id);
            } else if (raws.value() == null) {
                int finding = findings.add(
                        Severity.LOSS,
                        Kind.DAMAGED_RECORD,
                        "the record that says where on the fast tier inode " + id
                                + " lies is damaged: its file cannot be opened. If the fast tier is there, a repair"
                                + " makes the record anew");
                findings.damaged(finding, id, 0, inode == null ? 0 : inode.size());
                corrections.rawDamaged(id);
            }
        }
    }

    @Override
    public void close() {
        raws.close();
    }
}
