package org.opendedup.sar.check;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader.Contents;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.repair.Corrections;

/**
 * The check of a volume by its metadata, which do not change meanwhile, and by its packs: everything that can be
 * checked without reading chunks. The metadata are those of a volume that is not in use, or a cut: a copy of the
 * metadata of a volume in use, as they were at a moment.
 */
public final class StoredVolume {
    /** Name of the stage that reads the directory of one container for each unit. */
    public static final String REFERENCES = "references to containers";

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

    private final PackFolder data;
    private final KeyValueStore database;
    private final Contents contents;
    private final Mend mend;
    private final Scratch scratch;
    private final @Nullable PresentContainers present;

    private StoredVolume(
            PackFolder data, KeyValueStore database, String name, Scratch scratch, @Nullable PresentContainers present)
            throws IOException {
        this.data = data;
        this.database = database;
        this.scratch = scratch;
        this.present = present;
        contents = ContainerRecords.open(database).header().contents();
        mend = new Mend(name, present != null, contents);
    }

    /**
     * Returns a volume that is not in use.
     *
     * @param database the metadata
     * @param volume the volume's name, for the commands in the findings
     */
    public static StoredVolume unmounted(PackFolder data, KeyValueStore database, String volume, Scratch scratch)
            throws IOException {
        return new StoredVolume(data, database, volume, scratch, null);
    }

    /**
     * Returns a volume in use, of which no chunk is collected meanwhile.
     *
     * @param cut a copy of the metadata, as of a commit
     * @param present where containers lie now: a container that was written anew after the cut is no finding
     */
    public static StoredVolume inUse(
            PackFolder data, KeyValueStore cut, String volume, Scratch scratch, PresentContainers present)
            throws IOException {
        return new StoredVolume(data, cut, volume, scratch, present);
    }

    /**
     * Checks the volume, changes nothing, and closes the database. Of a volume of chunks it compares no references,
     * because it has none: its chunks are not garbage because no recipe refers to them.
     *
     * @throws InterruptedIOException if {@code progress} stopped it
     */
    public Report check(Progress progress) throws IOException {
        try (database) {
            return checkOpen(progress);
        }
    }

    private Report checkOpen(Progress progress) throws IOException {
        FindingList findings = new FindingList(mend);
        LostChunks lost = new LostChunks();
        ContainerCheck containers =
                new ContainerCheck(data, ContainerRecords.open(database), mend, findings, lost, present);
        containers.run(progress);
        WrongRanges ranges = findings.ranges();
        try {
            if (contents == Contents.CHUNKS) {
                new CountCheck(database, containers::directory, findings).run(containers.containers(), progress);
                return new Report(containers.containers(), findings.findings(Map.of()));
            }
            MetadataRecords records = MetadataRecords.of(database);
            findRollback(records, findings);
            findReceive(records, findings);
            new MetadataCheck(records, containers::directory, findings, Corrections.NONE)
                    .run(scratch, containers.containers(), progress);
        } catch (UnsupportedFormatException | InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            notChecked(findings, containers, "not all files and references could be checked: ", e);
        }
        ranges.unlisted().forEach((finding, more) -> findings.unlisted(finding, more.ranges(), more.bytes()));
        return new Report(
                containers.containers(), findings.findings(files(containers, lost, ranges, findings, progress)));
    }

    private static void findRollback(MetadataRecords records, FindingList findings) throws IOException {
        RollbackRecord unfinished = records.rollback();
        if (unfinished != null) {
            findings.add(
                    Severity.DEFECT,
                    Kind.ROLLBACK,
                    "the rollback to snapshot " + records.snapshots().textOf(unfinished.snapshot())
                            + " is not finished: until then, names, links and bytes of files need not agree");
        }
    }

    private static void findReceive(MetadataRecords records, FindingList findings) throws IOException {
        ReplicaRecord replica = records.replica();
        if (replica != null && replica.underWay() != null) {
            findings.add(
                    Severity.DEFECT,
                    Kind.RECEIVE,
                    "a snapshot of another volume is not received to its end: until then, names, links and bytes of"
                            + " files need not agree");
        }
    }

    /**
     * Tells what is right where the metadata of a volume that is not in use are wrong, and reports nothing. Leaves the
     * database open.
     *
     * @throws IOException if not all of the metadata can be read
     */
    public static void correct(
            PackFolder data, KeyValueStore database, Scratch scratch, Corrections corrections, Progress progress)
            throws IOException {
        ContainerRecords records = ContainerRecords.open(database);
        long[] containers = {0};
        records.forEachEntry((container, entry) -> containers[0]++);
        Mend none = new Mend("", false);
        ContainerCheck check = new ContainerCheck(data, records, none, new FindingList(none), new LostChunks(), null);
        new MetadataCheck(MetadataRecords.of(database), check::directory, (severity, kind, what) -> 0, corrections)
                .run(scratch, containers[0], progress);
    }

    private Map<Integer, List<DamagedFile>> files(
            ContainerCheck containers, LostChunks lost, WrongRanges ranges, FindingList findings, Progress progress)
            throws IOException {
        if (lost.isEmpty() && ranges.isEmpty()) {
            return Map.of();
        }
        // Closes the database, which nothing needs any more.
        try (MetadataStore metadata = MetadataStore.open(database, CACHE_BYTES)) {
            DamagedFiles files = new DamagedFiles(metadata, lost, progress, false);
            ranges.forEach(files::add);
            Map<Integer, List<DamagedFile>> found = files.run();
            files.moreOfFindings().forEach((finding, of) -> findings.unlistedFiles(finding, of.files(), of.bytes()));
            return found;
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            notChecked(findings, containers, "not all names of damaged files could be found: ", e);
            return Map.of();
        }
    }

    private void notChecked(FindingList findings, ContainerCheck containers, String problem, IOException why) {
        Kind kind = Kind.NOT_CHECKED;
        String command = mend.of(kind);
        if (containers.hasDamagedEntries()) {
            // Nothing can read such a table as a whole.
            command = mend.of(Kind.DAMAGED_ENTRY);
        } else if (why instanceof CorruptionException) {
            kind = Kind.DAMAGED_RECORD;
            command = mend.of(kind);
        }
        findings.add(Severity.DEFECT, kind, problem + why.getMessage(), command);
    }
}
