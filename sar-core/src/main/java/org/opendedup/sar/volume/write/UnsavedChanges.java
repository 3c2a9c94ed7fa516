package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.pending.Uncommitted;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.NodeTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes that a volume accepted and could not make durable before it was closed. They are lost.
 *
 * @param named the first {@value #MAX_NAMED} of the files that lost bytes, those that lost most first
 * @param files number of files that lost bytes
 * @param bytes maximum number of bytes that all of these files lost; recipe pages count as a whole
 * @param otherChanges number of other lost changes: of names, and of files and folders of which only the attributes
 *     changed
 */
public record UnsavedChanges(List<UnsavedFile> named, long files, long bytes, long otherChanges) {
    /** Maximum number of files that a report names. */
    public static final int MAX_NAMED = 20;

    private static final Logger log = LoggerFactory.getLogger(UnsavedChanges.class);

    /**
     * Maximum number of directory entries read to find the names of files whose names did not change: approximately one
     * second of work.
     */
    private static final long MAX_ENTRIES = 500_000;

    /** Maximum number of names in a reported path; a deeper path begins with three dots. */
    private static final int MAX_DEPTH = 64;

    /**
     * A file that lost bytes.
     *
     * @param path path from the volume's root, or "inode N" if no name was found. Contains only characters that a
     *     terminal prints as themselves
     * @param bytes maximum number of bytes lost
     */
    public record UnsavedFile(String path, long bytes) {}

    /** Collects the changes that are not durable now. Never fails. */
    public static UnsavedChanges of(FileWriter writer, NodeTable nodes, MetadataStore metadata) {
        Uncommitted uncommitted = metadata.uncommittedChanges();
        Map<Long, Long> bytes = writer.unloggedBytes();
        long pageBytes = metadata.recipes().pageBytes();
        uncommitted.intents().forEach((inode, logged) -> bytes.merge(inode, logged, Long::sum));
        uncommitted.pages().forEach((inode, pages) -> bytes.merge(inode, pages * pageBytes, Long::sum));
        Set<Long> others = new HashSet<>(uncommitted.inodes());
        others.addAll(nodes.changed());
        others.removeAll(bytes.keySet());
        long sum = bytes.values().stream().mapToLong(Long::longValue).sum();
        List<Long> first = bytes.entrySet().stream()
                .sorted(Map.Entry.<Long, Long>comparingByValue().reversed())
                .limit(MAX_NAMED)
                .map(Map.Entry::getKey)
                .toList();
        Map<Long, String> paths = paths(first, uncommitted.names(), metadata);
        List<UnsavedFile> named = new ArrayList<>();
        for (long inode : first) {
            named.add(new UnsavedFile(paths.getOrDefault(inode, "inode " + inode), bytes.getOrDefault(inode, 0L)));
        }
        return new UnsavedChanges(named, bytes.size(), sum, others.size() + uncommitted.entries());
    }

    /** Returns the paths of those inodes for which one can be found; reading from the disk may fail. */
    public static Map<Long, String> paths(
            List<Long> inodes, Map<Long, Uncommitted.Name> changed, MetadataStore metadata) {
        Map<Long, Uncommitted.Name> names = new HashMap<>(changed);
        Map<Long, String> paths = new HashMap<>();
        try {
            if (!inodes.isEmpty()) {
                metadata.namespace().forEachEntry(MAX_ENTRIES, (directory, name, inode, isDirectory) -> {
                    if (isDirectory || inodes.contains(inode)) {
                        names.putIfAbsent(inode, new Uncommitted.Name(directory, name));
                    }
                });
            }
        } catch (IOException | RuntimeException e) {
            log.debug("not all names of files can be read", e);
        }
        for (long inode : inodes) {
            if (names.containsKey(inode)) {
                paths.put(inode, path(inode, names));
            }
        }
        return paths;
    }

    /**
     * Returns the path of an inode for the log, with a slash in front: by that it is known as a path.
     *
     * @param otherwise what is returned if none can be found
     */
    public static String logged(long inode, MetadataStore metadata, String otherwise) {
        String path = paths(List.of(inode), Map.of(), metadata).get(inode);
        return path == null ? otherwise : "/" + path;
    }

    private static String path(long inode, Map<Long, Uncommitted.Name> names) {
        StringBuilder path = new StringBuilder();
        long at = inode;
        for (int depth = 0; at != Inode.ROOT; depth++) {
            Uncommitted.Name name = names.get(at);
            if (name == null || depth == MAX_DEPTH) {
                path.insert(0, path.length() == 0 ? "..." : ".../");
                break;
            }
            path.insert(0, path.length() == 0 ? "" : "/").insert(0, new String(name.name(), StandardCharsets.UTF_8));
            at = name.directory();
        }
        return Printable.line(path.toString());
    }

    /** Returns whether every accepted change is durable. */
    public boolean isNone() {
        return files == 0 && otherChanges == 0;
    }

    /** Returns a summary in one line, without the names of the files. */
    public String summary() {
        return "lost: " + (files == 1 ? "1 file" : files + " files") + " with up to " + bytes
                + " bytes that were written and not durable, and "
                + (otherChanges == 1 ? "1 other change" : otherChanges + " other changes")
                + " of names and attributes";
    }
}
