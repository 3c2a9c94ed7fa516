package org.opendedup.sar.check;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.MetadataRecords.Version;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.repair.Corrections;
import org.opendedup.sar.metadata.versions.Snapshots;

/**
 * Checks the versions of records that snapshots have: each can be decoded, a snapshot has it, and it has its death, by
 * which it is found when its snapshots are deleted. Adds the references of recipes. Its memory does not depend on their
 * number: it compares versions and deaths by a sum of hashes.
 */
final class VersionCheck {
    private static final String STEP = "records that snapshots keep";
    private static final HashFunction HASH = Hashing.murmur3_128();

    private final MetadataRecords records;
    private final CheckFindings findings;
    private final Corrections corrections;
    private final References references;
    private final Snapshots snapshots;
    /** The deaths of the versions with the same numbers and the same death. */
    private final Set<ByteBuffer> deathsOfGroup = new HashSet<>();

    private byte[] group = {};
    private long sum;

    VersionCheck(MetadataRecords records, CheckFindings findings, Corrections corrections, References references)
            throws IOException {
        this.records = records;
        this.findings = findings;
        this.corrections = corrections;
        this.references = references;
        snapshots = records.snapshots();
    }

    void run(Progress progress) throws IOException {
        long done = 0;
        long ofNoSnapshot = 0;
        try (RecordCursor<Version> versions = records.versions()) {
            while (versions.next()) {
                progress.at(STEP, done++, 0);
                Version version = versions.value();
                if (version == null) {
                    damaged("a version of a record, which snapshots have, has a damaged key");
                } else {
                    noteDeath(version);
                    if (!snapshots.haveVersion(version.birth(), version.death())) {
                        ofNoSnapshot++;
                        corrections.versionOfNoSnapshot(version.key(), version.deathKey());
                    }
                    if (version.kind() == VersionKeys.Kind.RECIPE) {
                        add(version);
                    } else if (version.isDamaged()) {
                        damaged(text(version) + " in snapshot " + newest(version) + " is damaged");
                    }
                }
            }
        }
        if (ofNoSnapshot > 0) {
            findings.add(
                    Severity.DEFECT,
                    Kind.REFERENCES,
                    "no snapshot has " + ofNoSnapshot
                            + " of the versions of records that are kept for snapshots, and nothing frees them");
        }
        records.forEachDeath(key -> sum -= hash(ByteBuffer.wrap(key)));
        if (sum != 0) {
            findings.add(
                    Severity.DEFECT,
                    Kind.REFERENCES,
                    "the versions of records that snapshots have, and the list by which they are freed, differ");
            corrections.deaths();
        }
    }

    private int damaged(String what) {
        return findings.add(Severity.LOSS, Kind.DAMAGED_RECORD, what);
    }

    /** Adds a death once: names with the same hash, and the attributes of a file, may have the same one. */
    private void noteDeath(Version version) {
        byte[] ofGroup = VersionKeys.version(version.kind(), version.numbers(), version.death());
        if (!Arrays.equals(group, ofGroup)) {
            group = ofGroup;
            deathsOfGroup.clear();
        }
        ByteBuffer death = ByteBuffer.wrap(version.deathKey());
        if (deathsOfGroup.add(death)) {
            sum += hash(death);
        }
    }

    private static long hash(ByteBuffer key) {
        return HASH.hashBytes(key.array()).asLong();
    }

    private static String text(Version version) {
        long inode = Keys.longAt(version.numbers(), 0);
        return switch (version.kind()) {
            case INODE -> "inode " + inode;
            case ENTRY -> "a name in directory " + inode;
            case XATTR -> "an attribute of inode " + inode;
            case RECIPE -> "a page of inode " + inode;
        };
    }

    /** Returns the newest snapshot that has it; if all are deleted, any number of one that had it. */
    private long newest(Version version) {
        return Math.max(Math.max(1, version.birth()), snapshots.before(version.death()));
    }

    private void add(Version version) throws IOException {
        long inode = Keys.longAt(version.numbers(), 0);
        long number = Keys.longAt(version.numbers(), Keys.LONG_BYTES);
        long start = number * records.pageBytes();
        long newest = newest(version);
        long id = SnapshotIds.of(newest, inode);
        RecipePage page = version.page();
        if (page == null) {
            corrections.recipeDamaged();
            int finding = damaged(
                    "page " + number + " of the recipe of inode " + inode + " in snapshot " + newest + " is damaged");
            findings.damaged(finding, id, start, start + records.pageBytes());
        } else {
            references.add(id, start, page);
        }
    }
}
