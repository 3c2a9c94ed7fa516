package org.opendedup.sar.check;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.KeyValueStore;
import org.opendedup.sar.metadata.MetadataStore;

/** The check of a volume that is not in use: everything that can be checked without reading chunks. */
public final class StoredVolume {
    /** Heap bytes for decoded records: each is read once. */
    private static final long CACHE_BYTES = 16 << 20;

    /**
     * What a check found.
     *
     * @param containers number of containers in the container table
     * @param findings in the order in which they were found
     */
    public record Report(long containers, List<Finding> findings) {
        /** Returns whether anything is not as it should be. */
        public boolean hasDefects() {
            return findings.stream().anyMatch(finding -> finding.severity() != Severity.NOTE);
        }
    }

    private StoredVolume() {}

    /**
     * Checks a volume. Changes nothing.
     *
     * @param database the metadata; closed by this method, since a {@link MetadataStore} closes its database
     * @param volume the volume's name, for the commands in the findings
     */
    public static Report check(Directory data, KeyValueStore database, String volume, CheckProgress progress)
            throws IOException {
        try (database) {
            FindingList findings = new FindingList();
            LostChunks lost = new LostChunks();
            Mend mend = new Mend(volume);
            ContainerCheck containers = new ContainerCheck(data, ContainerRecords.open(database), mend, findings, lost);
            containers.run(progress);
            Map<Integer, List<DamagedFile>> files = Map.of();
            try (MetadataStore metadata = MetadataStore.open(database, CACHE_BYTES)) {
                files = new DamagedFiles(metadata, lost, progress).run();
                new ReferenceCheck(
                                metadata,
                                containers::frameTable,
                                problem -> findings.add(Severity.DEFECT, Kind.REFERENCES, problem, mend.metadata()))
                        .run(progress);
            } catch (UnsupportedFormatException e) {
                throw e;
            } catch (IOException e) {
                findings.add(
                        Severity.DEFECT,
                        Kind.NOT_CHECKED,
                        "not all files and references could be checked: " + e.getMessage(),
                        mend.rebuilding() + ", then: sdfs-check " + volume);
            }
            return new Report(containers.containers(), findings.findings(files));
        }
    }
}
