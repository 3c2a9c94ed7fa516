package org.opendedup.sar.check;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.MetadataRecords.Name;
import org.opendedup.sar.metadata.MetadataRecords.Page;
import org.opendedup.sar.metadata.quota.Recount;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.Orphan;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.repair.Corrections;

/**
 * Compares each inode with the names in it, if it is a directory, with its recipe, with the list of orphans, with the
 * intent log and with the records of raw files, in one pass over these records, which all have the order of inode
 * numbers. Hands on all names and all references.
 */
final class InodeCheck {
    private static final String STEP = "recipes, in bytes of files";

    private final MetadataRecords records;
    private final CheckFindings findings;
    private final Corrections corrections;
    private final References references;
    private final NameCheck names;
    private long dataBytes;
    private long inodes;
    private final Recount quotas = new Recount();
    private boolean areAllDecoded = true;

    InodeCheck(
            MetadataRecords records,
            CheckFindings findings,
            Corrections corrections,
            References references,
            NameCheck names) {
        this.records = records;
        this.findings = findings;
        this.corrections = corrections;
        this.references = references;
        this.names = names;
    }

    /** Returns the bytes of all files that are stored in chunks, according to the inodes. */
    long dataBytes() {
        return dataBytes;
    }

    long inodes() {
        return inodes;
    }

    /**
     * Returns which records of quotas differ from the inodes; none if an inode is damaged, whose owner is not known.
     */
    List<Recount.Difference> wrongQuotas() throws IOException {
        return areAllDecoded ? quotas.differences(records.quotas()) : List.of();
    }

    void run(long bytes, Progress progress) throws IOException {
        try (Ahead<Inode> inode = new Ahead<>(records.inodes());
                Ahead<Name> name = new Ahead<>(records.names());
                Ahead<Page> page = new Ahead<>(records.pages());
                Ahead<Orphan> orphan = new Ahead<>(records.orphans());
                Ahead<IntentRecord> intents = new Ahead<>(records.intents());
                Ahead<RawRecord> raws = new Ahead<>(records.raws())) {
            long done = 0;
            while (true) {
                long id = Math.min(
                        Math.min(intents.id(), raws.id()),
                        Math.min(Math.min(inode.id(), name.id()), Math.min(page.id(), orphan.id())));
                if (id == Long.MAX_VALUE) {
                    break;
                }
                progress.at(STEP, done, bytes);
                boolean exists = inode.id() == id;
                Inode found = exists ? inode.value() : null;
                long dead = Long.MAX_VALUE;
                if (orphan.id() == id) {
                    Orphan value = orphan.value();
                    dead = value == null ? damagedOrphan(id, exists, found) : value.fromPage();
                    orphan.next();
                }
                int subdirectories = names(name, id, exists);
                done += pages(page, id, exists, found, dead, done, bytes, progress);
                intents(intents, id, exists, found);
                raws(raws, id, exists, found);
                if (exists) {
                    inodes++;
                    inode(id, found, subdirectories, dead);
                    inode.next();
                }
            }
        }
    }

    /** Returns the first page of the recipe that no file shows: the inode tells it, too. */
    private long damagedOrphan(long id, boolean exists, @Nullable Inode inode) throws IOException {
        findings.add(
                Severity.DEFECT,
                Kind.NAMES,
                "the record of what has to be freed of inode " + id + " is damaged: the volume cannot be mounted");
        if (exists && inode == null) {
            return 0; // Nobody knows whether it has names.
        }
        long pageBytes = records.pageBytes();
        long fromPage = inode == null || inode.links() == 0 ? 0 : (inode.size() + pageBytes - 1) / pageBytes;
        corrections.orphan(id, exists ? fromPage : -1);
        return fromPage;
    }

    private void inode(long id, @Nullable Inode inode, int subdirectories, long dead) throws IOException {
        if (inode == null) {
            areAllDecoded = false;
            findings.add(
                    Severity.LOSS,
                    Kind.DAMAGED_RECORD,
                    "the record of inode " + id + " is damaged: its file cannot be opened");
            return;
        }
        dataBytes += inode.dataBytes();
        quotas.add(inode);
        if (inode.isDirectory() && inode.links() > 0 && inode.links() != 2 + subdirectories) {
            findings.add(
                    Severity.DEFECT,
                    Kind.NAMES,
                    "directory " + id + " has " + inode.links() + " links and " + subdirectories
                            + " subdirectories, which make " + (2 + subdirectories) + " links");
            corrections.links(id, 2 + subdirectories);
        }
        if (inode.links() == 0 && dead != 0) {
            findings.add(
                    Severity.DEFECT,
                    Kind.NAMES,
                    "inode " + id + " has no links and is not in the list of what has to be freed");
            corrections.nameless(id);
        }
    }

    /** Returns the number of subdirectories. */
    private int names(Ahead<Name> name, long directory, boolean exists) throws IOException {
        if (name.id() == directory && !exists) {
            findings.add(
                    Severity.DEFECT,
                    Kind.NAMES,
                    "there are names in directory " + directory + ", which does not exist");
            corrections.namesWithoutDirectory(directory);
        }
        int subdirectories = 0;
        while (name.id() == directory) {
            Name found = name.value();
            if (found == null) {
                findings.add(Severity.LOSS, Kind.DAMAGED_RECORD, "a name in directory " + directory + " is damaged");
            } else {
                names.add(directory, found); // also of a directory that does not exist: a repair makes it
                subdirectories += Modes.isDirectory(found.type()) ? 1 : 0;
            }
            name.next();
        }
        return subdirectories;
    }

    /** Returns the bytes in chunks. */
    private long pages(
            Ahead<Page> page,
            long id,
            boolean exists,
            @Nullable Inode inode,
            long dead,
            long done,
            long of,
            Progress progress)
            throws IOException {
        if (page.id() == id && !exists) {
            findings.add(
                    Severity.DEFECT, Kind.REFERENCES, "there is a recipe of inode " + id + ", which does not exist");
            corrections.recipeWithoutInode(id);
        }
        long bytes = 0;
        long size = inode == null ? 0 : inode.size();
        boolean isWhole = true;
        while (page.id() == id) {
            Page found = Objects.requireNonNull(page.value());
            long start = found.number() * records.pageBytes();
            RecipePage entries = found.page();
            if (entries == null) {
                isWhole = false;
                corrections.recipeDamaged();
                int finding = findings.add(
                        Severity.LOSS,
                        Kind.DAMAGED_RECORD,
                        "page " + found.number() + " of the recipe of inode " + id + " is damaged");
                findings.damaged(finding, id, start, start + records.pageBytes());
            } else {
                if (inode != null
                        && inode.links() > 0
                        && start + entries.bytes() > inode.size()
                        && found.number() < dead) {
                    findings.add(
                            Severity.DEFECT,
                            Kind.REFERENCES,
                            "the recipe of inode " + id + " continues past the end of the file, in page "
                                    + found.number());
                    size = start + entries.bytes();
                }
                references.add(id, start, entries);
                bytes += entries.dataBytes();
                progress.at(STEP, done + bytes, of);
            }
            page.next();
        }
        if (inode != null && size > inode.size()) {
            corrections.size(id, size);
        }
        if (inode != null && inode.links() > 0 && isWhole && bytes != inode.dataBytes()) {
            findings.add(
                    Severity.DEFECT,
                    Kind.REFERENCES,
                    "inode " + id + " counts " + inode.dataBytes() + " bytes of data and its recipe has " + bytes);
            corrections.dataBytes(id, bytes);
        }
        return bytes;
    }

    /**
     * Checks the records of the intent log of an inode, which may have none: each belongs to a file, can be decoded,
     * follows the one before, and lies within the file.
     */
    private void intents(Ahead<IntentRecord> intents, long id, boolean exists, @Nullable Inode inode)
            throws IOException {
        if (intents.id() != id) {
            return;
        }
        if (!exists || inode != null && !inode.isFile()) {
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
        if (inode == null || !inode.isFile()) {
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

    /**
     * Checks the record of a raw file of an inode, which may have none: it belongs to a file, and can be decoded. What
     * the recipe of a raw file has is no concern of it, because a copy into chunks may have ended early.
     */
    private void raws(Ahead<RawRecord> raws, long id, boolean exists, @Nullable Inode inode) throws IOException {
        for (; raws.id() == id; raws.next()) {
            if (!exists || inode != null && !inode.isFile()) {
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
}
