package org.opendedup.sar.check;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.quota.Recount;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.Totals;
import org.opendedup.sar.metadata.repair.Corrections;

/**
 * Checks the records of a volume's metadata against each other and against the directories of the containers: names,
 * inodes, recipes, counts, totals and quotas. Reads no chunk. Its memory does not depend on the size of the volume, but
 * for 16 bytes for each directory of the namespace: it sorts in scratch files, 40 bytes for each reference of a recipe,
 * and 32 for each name.
 */
public final class MetadataCheck {
    private final MetadataRecords records;
    private final ChunkDirectory.Source directories;
    private final CheckFindings findings;
    private final Corrections corrections;

    public MetadataCheck(
            MetadataRecords records,
            ChunkDirectory.Source directories,
            CheckFindings findings,
            Corrections corrections) {
        this.records = records;
        this.directories = directories;
        this.findings = findings;
        this.corrections = corrections;
    }

    /**
     * Runs the check.
     *
     * @param containers number of containers, for the progress
     * @throws java.io.InterruptedIOException if {@code progress} or the steps of {@code scratch} stopped it
     */
    public void run(Scratch scratch, long containers, Progress progress) throws IOException {
        Totals totals = records.totals();
        try (References references = new References(scratch);
                NameCheck names = new NameCheck(scratch, findings, corrections)) {
            InodeCheck inodes = new InodeCheck(records, findings, corrections, references, names);
            inodes.run(totals == null ? 0 : totals.logicalBytes(), progress);
            names.run(records, inodes.inodes(), progress);
            new VersionCheck(records, findings, corrections, references).run(progress);
            StoredCopies recounted = new ReferenceCheck(records, directories, findings, corrections)
                    .run(references, containers, progress);
            compare(totals, inodes, recounted);
            for (Recount.Difference difference : inodes.wrongQuotas()) {
                wrongTotals(difference.text());
            }
        }
    }

    private void compare(@Nullable Totals totals, InodeCheck inodes, StoredCopies recounted) throws IOException {
        if (totals == null) {
            wrongTotals("the record of the volume's totals is damaged");
            return;
        }
        if (!totals.stored().equals(recounted)) {
            wrongTotals("the volume counts as stored " + totals.stored() + " and its counts have " + recounted);
        }
        if (totals.logicalBytes() != inodes.dataBytes()) {
            wrongTotals("the volume counts " + totals.logicalBytes() + " bytes of data and its files "
                    + inodes.dataBytes());
        }
        if (totals.files() != inodes.inodes()) {
            wrongTotals("the volume counts " + totals.files() + " inodes and has " + inodes.inodes());
        }
    }

    private void wrongTotals(String problem) throws IOException {
        findings.add(Severity.DEFECT, Kind.REFERENCES, problem);
        corrections.totals();
    }
}
