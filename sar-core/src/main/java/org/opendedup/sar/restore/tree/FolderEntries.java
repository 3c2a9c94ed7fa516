package org.opendedup.sar.restore.tree;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Modes;

/**
 * The regular files and folders in one folder, as they were when it was read. The names of one moment are not needed:
 * what changed meanwhile is read ahead in vain, or not read ahead.
 */
final class FolderEntries {
    /** Most entries of a folder that is followed: half a megabyte in one order. */
    static final int MAX_ENTRIES = 1 << 16;

    private static final long FOLDER_BIT = 1;

    private final List<Named> entries;
    private final boolean isFollowed;

    private record Named(byte[] name, long entry) {}

    private FolderEntries(List<Named> entries, boolean isFollowed) {
        this.entries = entries;
        this.isFollowed = isFollowed;
    }

    /** Reads a folder. One with more than {@link #MAX_ENTRIES} entries counts as empty: it is not followed. */
    static FolderEntries read(Namespace names, long folder) throws IOException {
        List<Named> entries = new ArrayList<>();
        names.list(folder, 0, (name, inode, type, cookie) -> {
            if (type == Modes.REGULAR || Modes.isDirectory(type)) {
                entries.add(new Named(name, inode << 1 | (Modes.isDirectory(type) ? FOLDER_BIT : 0)));
            }
            return entries.size() <= MAX_ENTRIES;
        });
        boolean isFollowed = entries.size() <= MAX_ENTRIES;
        return new FolderEntries(isFollowed ? entries : List.of(), isFollowed);
    }

    /** Whether it has not too many entries. */
    boolean isFollowed() {
        return isFollowed;
    }

    /** Returns the entries in an order, each as {@link #inode} and {@link #isFolder} understand it. */
    long[] in(TreeOrder order) {
        return switch (order) {
            case LISTED -> entries.stream().mapToLong(Named::entry).toArray();
            case STORED -> entries.stream().mapToLong(Named::entry).sorted().toArray();
            case NAMED ->
                entries.stream()
                        .sorted(Comparator.comparing((Named named) -> isFolder(named.entry))
                                .thenComparing(Named::name, Arrays::compareUnsigned))
                        .mapToLong(Named::entry)
                        .toArray();
        };
    }

    static long inode(long entry) {
        return entry >>> 1;
    }

    static boolean isFolder(long entry) {
        return (entry & FOLDER_BIT) != 0;
    }
}
