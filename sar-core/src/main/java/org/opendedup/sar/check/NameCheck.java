package org.opendedup.sar.check;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.MetadataRecords.Name;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.repair.Corrections;
import org.opendedup.sar.sort.TupleSort;

/**
 * Compares each inode with the names that lead to it: the names are sorted by inode, and merged with the inodes. Memory
 * is bounded but for 16 bytes for each directory, by which directories that the root does not reach are found.
 */
final class NameCheck implements Closeable {
    private static final int COLUMNS = 4;

    private final TupleSort sort;
    private final CheckFindings findings;
    private final Corrections corrections;
    private final long[] tuple = new long[COLUMNS];
    /** Directories in ascending order, and the directory with the name of each; 0 if it has none. */
    private long[] directories = new long[64];

    private long[] parents = new long[64];
    private int directoryCount;

    /** The directories that have names of the directory that is compared, and how many. */
    private final Map<Long, Integer> holders = new TreeMap<>();

    NameCheck(Scratch scratch, CheckFindings findings, Corrections corrections) {
        sort = new TupleSort(
                scratch.directory(), "names", COLUMNS, scratch.nameBytes(), scratch.steps(), scratch.keys());
        this.findings = findings;
        this.corrections = corrections;
    }

    void add(long directory, Name name) throws IOException {
        tuple[0] = name.inode();
        tuple[1] = directory;
        tuple[2] = name.type();
        tuple[3] = name.hash();
        sort.add(tuple);
    }

    void run(MetadataRecords records, long inodes, Progress progress) throws IOException {
        TupleSort.Cursor names = sort.sorted(Long.MIN_VALUE);
        boolean more = names.next();
        long done = 0;
        try (RecordCursor<Inode> inode = records.inodes()) {
            while (inode.next()) {
                progress.at("names", done++, inodes);
                while (more && names.get(0) < inode.id()) {
                    leadsNowhere(names);
                    more = names.next();
                }
                Inode found = inode.value();
                int count = 0;
                long parent = 0;
                boolean isDirectory = found != null && found.isDirectory();
                holders.clear();
                while (more && names.get(0) == inode.id()) {
                    if (found != null && names.get(2) != found.type()) {
                        findings.add(
                                Severity.DEFECT,
                                Kind.NAMES,
                                "a name in directory " + names.get(1) + " says another type than inode " + inode.id()
                                        + " has");
                        corrections.name(names.get(1), names.get(3), inode.id());
                    }
                    count++;
                    parent = names.get(1);
                    if (isDirectory) {
                        holders.merge(parent, 1, Integer::sum);
                    }
                    more = names.next();
                }
                if (found != null) {
                    compare(found, count, parent);
                }
            }
        }
        while (more) {
            leadsNowhere(names);
            more = names.next();
        }
        findUnreachable();
    }

    private void leadsNowhere(TupleSort.Cursor name) throws IOException {
        long inode = name.get(0);
        long directory = name.get(1);
        findings.add(
                Severity.LOSS,
                Kind.NAMES,
                "a name in directory " + directory + " leads to inode " + inode + ", which does not exist");
        corrections.name(directory, name.get(3), inode);
    }

    private void compare(Inode inode, int count, long parent) throws IOException {
        if (inode.links() == 0 && count == 0) {
            return;
        }
        if (inode.isDirectory()) {
            compareDirectory(inode, count, parent);
        } else if (count == 0) {
            nameless(inode);
        } else if (count != inode.links()) {
            findings.add(
                    Severity.DEFECT,
                    Kind.NAMES,
                    "inode " + inode.id() + " has " + inode.links() + " links and " + count + " names");
            corrections.links(inode.id(), count);
        }
    }

    private void nameless(Inode inode) throws IOException {
        findings.add(
                Severity.DEFECT,
                Kind.NAMES,
                "inode " + inode.id() + " has " + inode.links() + " links, and no name leads to it");
        corrections.nameless(inode.id());
    }

    private void compareDirectory(Inode inode, int count, long last) throws IOException {
        boolean isRoot = inode.id() == Inode.ROOT;
        // Of several names the one stays that the directory itself names, or else the last.
        long parent = holders.containsKey(inode.parent()) ? inode.parent() : last;
        remember(inode.id(), isRoot ? Inode.ROOT : parent);
        if (!isRoot && count == 0) {
            nameless(inode);
            return;
        }
        if (count > (isRoot ? 0 : 1)) {
            findings.add(
                    Severity.DEFECT,
                    Kind.NAMES,
                    "directory " + inode.id() + " has " + count + " names instead of " + (isRoot ? "none" : "one"));
            for (Map.Entry<Long, Integer> holder : holders.entrySet()) {
                int keep = !isRoot && holder.getKey().longValue() == parent ? 1 : 0;
                if (holder.getValue() > keep) {
                    corrections.extraNames(holder.getKey(), inode.id(), keep);
                }
            }
        }
        if (!isRoot && inode.parent() != parent) {
            findings.add(
                    Severity.DEFECT,
                    Kind.NAMES,
                    "directory " + inode.id() + " names directory " + inode.parent()
                            + " as its parent, and its name is in directory " + parent);
            corrections.parent(inode.id(), parent);
        }
    }

    private void remember(long directory, long parent) {
        if (directoryCount == directories.length) {
            directories = Arrays.copyOf(directories, 2 * directoryCount);
            parents = Arrays.copyOf(parents, 2 * directoryCount);
        }
        directories[directoryCount] = directory;
        parents[directoryCount++] = parent;
    }

    /** Finds circles: directories that have a name each, and that the root does not reach. */
    private void findUnreachable() throws IOException {
        BitSet done = new BitSet(directoryCount);
        int[] path = new int[64];
        for (int first = 0; first < directoryCount; first++) {
            int length = 0;
            int at = first;
            while (at >= 0 && !done.get(at)) {
                done.set(at);
                if (length == path.length) {
                    path = Arrays.copyOf(path, 2 * length);
                }
                path[length++] = at;
                at = directories[at] == Inode.ROOT || parents[at] == 0
                        ? -1
                        : Arrays.binarySearch(directories, 0, directoryCount, parents[at]);
            }
            for (int i = 0; i < length; i++) {
                if (path[i] == at) {
                    findings.add(
                            Severity.DEFECT,
                            Kind.NAMES,
                            "directory " + directories[at] + " lies in itself: the root does not reach it");
                    corrections.circle(parents[at], directories[at]);
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        sort.close();
    }
}
