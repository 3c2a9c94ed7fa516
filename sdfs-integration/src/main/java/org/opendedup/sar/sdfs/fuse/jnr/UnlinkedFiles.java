package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.fuse.FuseOperations;

/**
 * The open files that have lost their name. Before the name of an open file is removed, libfuse renames the file to
 * {@code .fuse_hidden}, followed by its node number for the file and the value of a counter. Later calls without a
 * handle (fstat, fchmod, futimens) use that name; with libfuse's option {@code hard_remove} they would fail. Here the
 * hidden name exists only in this table: the file system removes the original name at once, and no directory shows the
 * hidden one.
 *
 * <p>Each entry holds a reference to its inode. It is removed when libfuse unlinks the hidden name, or with the last
 * opening of the inode, because libfuse sends no unlink if the directory no longer exists. The number of entries is
 * bounded by the number of open files.
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
     * Adds a hidden name. Takes over the caller's reference to the inode.
     *
     * @throws IllegalArgumentException if the name is not one that libfuse makes
     */
    void add(byte[] name, long inode) {
        Long node = node(text(name));
        if (node == null) {
            operations.forget(inode, 1);
            throw new IllegalArgumentException("not a name for a hidden file: " + text(name));
        }
        byNode.put(node, new Entry(text(name), inode));
    }

    /** Returns the inode of a hidden name; null if there is none. */
    @Nullable
    Long find(byte[] name) {
        Entry entry = entry(name);
        return entry == null ? null : (Long) entry.inode;
    }

    /** Returns the inode of a libfuse node that has lost its name; null if there is none. */
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

    /** Removes all entries of an inode that is no longer open. */
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
