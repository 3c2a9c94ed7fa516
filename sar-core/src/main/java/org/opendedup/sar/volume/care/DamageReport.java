package org.opendedup.sar.volume.care;

import java.util.List;
import org.opendedup.sar.metadata.record.DamageNote;

/**
 * Which bytes of which files are damaged.
 *
 * @param faults what is damaged on the disk; also what no file refers to any more
 * @param files the files with damaged bytes, by inode number; at most {@link org.opendedup.sar.check.DamagedFiles#MOST}
 * @param moreFiles number of further files with damaged bytes
 * @param bytes damaged bytes of all files
 * @param garbageFaults number of faults in which no file has bytes
 */
public record DamageReport(List<Fault> faults, List<FileDamage> files, long moreFiles, long bytes, long garbageFaults) {
    public DamageReport {
        faults = List.copyOf(faults);
        files = List.copyOf(files);
    }

    /**
     * Something damaged on the disk: a missing pack, a frame, or slots of a container.
     *
     * @param pack file name of a missing pack; empty if the pack is there
     * @param container 0 for a missing pack, and for all places that are not recorded
     * @param firstSlot first slot of the place
     * @param endSlot slot after the last one
     */
    public record Fault(String pack, long container, int firstSlot, int endSlot, DamageNote note) {}

    /**
     * A file with damaged bytes.
     *
     * @param paths all its names, as paths from the volume's root; empty for a file that was unlinked and is open
     * @param ranges in ascending order; neighbours are merged if they have the same fault
     * @param bytes damaged bytes, also of ranges that are left out
     * @param moreRanges number of ranges that are left out
     */
    public record FileDamage(long inode, List<String> paths, List<DamagedRange> ranges, long bytes, long moreRanges) {
        public FileDamage {
            paths = List.copyOf(paths);
            ranges = List.copyOf(ranges);
        }
    }

    /**
     * Damaged bytes of a file.
     *
     * @param from offset of the first byte
     * @param to offset after the last byte
     * @param fault number of the fault in {@link DamageReport#faults}
     */
    public record DamagedRange(long from, long to, int fault) {}

    /** Returns the number of files with damaged bytes. */
    public long allFiles() {
        return files.size() + moreFiles;
    }

    /** Returns whether no byte of a file is damaged. */
    public boolean isClean() {
        return allFiles() == 0;
    }
}
