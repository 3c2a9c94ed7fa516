package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.fuse.FuseOperations;

/**
 * Open files that have lost their name. Before libfuse removes the name of an open file it renames it to {@code
 * .fuse_hidden}, the number of its node for the file and one of a counter. Later calls without a handle come by that name
 * (fstat, fchmod, futimens); with its option {@code hard_remove} they would fail. Here that new name exists in this table
 * alone: the file system sees the removal at once, and no directory shows such a name.
 *
 * <p>Each entry holds a reference to its inode. It goes when libfuse unlinks the name, or with the last opening of the
 * inode, since libfuse keeps silent if the directory is gone by then. Bounded by the number of open files.
 */
final class UnlinkedFiles {
    private static final Pattern NAME = Pattern.compile("\\.fuse_hidden([0-9a-f]{8})[0-9a-f]{8,}");

    private final FuseOperations operations;
    private final Map<Long, Entry> byNode = new ConcurrentHashMap<>();

    private record Entry(String name, long inode) {}

    UnlinkedFiles(FuseOperations operations) {
        this.operations = operations;
    }

    /**
     * Takes over a reference to the inode.
     *
     * @throws IllegalArgumentException if libfuse gives no such names
     */
    void add(byte[] name, long inode) {
        Long node = node(text(name));
        if (node == null) {
            operations.forget(inode, 1);
            throw new IllegalArgumentException("not a name for a hidden file: " + text(name));
        }
        byNode.put(node, new Entry(text(name), inode));
    }

    /** The inode behind a hidden name. */
    @Nullable
    Long find(byte[] name) {
        Entry entry = entry(name);
        return entry == null ? null : (Long) entry.inode;
    }

    /** The inode behind a node of libfuse's, if it has lost its name. */
    @Nullable
    Long find(long node) {
        Entry entry = byNode.get(node);
        return entry == null ? null : (Long) entry.inode;
    }

    void remove(byte[] name) {
        Entry entry = entry(name);
        if (entry != null) {
            remove(entry);
        }
    }

    /** The inode is no longer open. */
    void removeAllOf(long inode) {
        if (!byNode.isEmpty()) {
            byNode.values().stream()
                    .filter(entry -> entry.inode == inode)
                    .toList()
                    .forEach(this::remove);
        }
    }

    private void remove(Entry entry) {
        Long node = node(entry.name);
        if (node != null && byNode.remove(node, entry)) {
            operations.forget(entry.inode, 1);
        }
    }

    private @Nullable Entry entry(byte[] name) {
        if (byNode.isEmpty()) {
            return null;
        }
        Long node = node(text(name));
        Entry entry = node == null ? null : byNode.get(node);
        return entry != null && entry.name.equals(text(name)) ? entry : null;
    }

    private static @Nullable Long node(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? (Long) Long.parseLong(matcher.group(1), 16) : null;
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1);
    }
}
