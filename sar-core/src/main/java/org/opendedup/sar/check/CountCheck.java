package org.opendedup.sar.check;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.Totals;

/**
 * Compares the counts of a volume of chunks with the directories of the containers (slots and lengths) and with the
 * totals. Whether a count is right only the client can tell, which has the references. Reads no chunk.
 */
final class CountCheck {
    private final KeyValueStore database;
    private final ChunkDirectory.Source directories;
    private final CheckFindings findings;
    private StoredCopies recounted = StoredCopies.NONE;

    CountCheck(KeyValueStore database, ChunkDirectory.Source directories, CheckFindings findings) {
        this.database = database;
        this.directories = directories;
        this.findings = findings;
    }

    /** @param containers number of containers, for the progress */
    void run(long containers, Progress progress) throws IOException {
        long[] done = {0};
        MetadataRecords.countsOf(database, (container, counted) -> {
            progress.at("counts of containers", done[0]++, containers);
            if (counted != null) { // The check of the container table reports a damaged record.
                recounted = recounted.plus(StoredCopies.of(counted));
                check(container, counted);
            }
        });
        Totals totals = MetadataRecords.totalsOf(database);
        if (totals == null) {
            report("the record of the volume's totals is damaged");
        } else if (!totals.stored().equals(recounted)) {
            report("the volume counts as stored " + totals.stored() + " and its counts have " + recounted);
        }
    }

    private void check(long container, ContainerCounts counted) throws IOException {
        ChunkDirectory directory = directory(container);
        if (directory == null) {
            return;
        }
        for (int slot = 0; slot < Math.min(counted.slots(), directory.slots()); slot++) {
            int length = directory.length(slot);
            boolean isCounted = counted.isAlive(slot) && counted.length(slot) > 0;
            if (isCounted && length > 0 && length != counted.length(slot)) {
                report(
                        container,
                        "chunk " + container + ":" + slot + " has " + length + " bytes and its counts say "
                                + counted.length(slot));
            }
        }
        for (int frame = 0; frame < directory.table().frames(); frame++) {
            String problem = FrameLengths.problem(container, frame, counted, directory);
            if (problem != null) {
                report(container, problem);
            }
        }
    }

    private @Nullable ChunkDirectory directory(long container) throws IOException {
        try {
            return directories.of(container);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            findings.container(
                    findings.add(
                            Severity.LOSS,
                            Kind.MISSING_CONTAINER,
                            "container " + container + " has counts and cannot be read: " + e.getMessage()),
                    container);
            return null;
        }
    }

    private int report(String problem) {
        return findings.add(Severity.DEFECT, Kind.REFERENCES, problem);
    }

    private void report(long container, String problem) {
        findings.container(report(problem), container);
    }
}
