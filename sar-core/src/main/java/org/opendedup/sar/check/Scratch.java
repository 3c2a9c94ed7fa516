package org.opendedup.sar.check;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.sort.SortSteps;

/**
 * Where a check sorts references, names and entries.
 *
 * @param directory an empty directory; its files are deleted at the end
 * @param steps called before each write to it
 * @param memoryBytes bytes of tuples that are in memory at once; ordering them needs half as much in addition
 * @param keys of an encrypted volume; null: it is not encrypted
 */
public record Scratch(
        Directory directory,
        SortSteps steps,
        long memoryBytes,
        @Nullable VolumeKeys keys) {
    /** With more memory, sorting gets hardly faster. */
    public static final long MOST_MEMORY_BYTES = 48 << 20;

    /** Divisor of the memory for the names, which are sorted while the references are. */
    private static final int PART_OF_NAMES = 3;

    int nameBytes() {
        return (int) (memoryBytes / PART_OF_NAMES);
    }

    int referenceBytes() {
        return (int) memoryBytes - nameBytes();
    }
}
