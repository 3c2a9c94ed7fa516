package org.opendedup.sar.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.DamagedFile.Range;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;

/**
 * Finds which bytes of which files are in chunks that cannot be read: reads all recipes once, and then all names once.
 * Keeps in memory the damaged ranges, and the names of their files and of the folders above them.
 */
final class DamagedFiles {
    /** Maximum number of names in a path; a deeper path begins with three dots. Also ends a circle of folders. */
    private static final int MAX_DEPTH = 4096;

    private record Name(long directory, byte[] name) {}

    private final MetadataStore metadata;
    private final LostChunks lost;
    private final CheckProgress progress;
    /** Ranges by inode and by the number of the finding. */
    private final Map<Long, Map<Integer, List<Range>>> damaged = new TreeMap<>();

    private final Map<Long, List<Name>> names = new HashMap<>();
    /** Paths of folders, without a slash at the end. */
    private final Map<Long, String> folders = new HashMap<>();

    DamagedFiles(MetadataStore metadata, LostChunks lost, CheckProgress progress) {
        this.metadata = metadata;
        this.lost = lost;
        this.progress = progress;
    }

    /** Returns the damaged files by the numbers of the findings. */
    Map<Integer, List<DamagedFile>> run() throws IOException {
        if (lost.isEmpty()) {
            return Map.of();
        }
        long files = metadata.totals().files();
        long[] done = new long[1];
        metadata.namespace().forEachInode(inode -> {
            progress.at("damaged files", done[0]++, files);
            if (inode.links() > 0) {
                find(inode);
            }
        });
        metadata.namespace().forEachEntry(Long.MAX_VALUE, (directory, name, inode, isDirectory) -> {
            if (damaged.containsKey(inode)) {
                names.computeIfAbsent(inode, none -> new ArrayList<>()).add(new Name(directory, name));
            }
        });
        Map<Integer, List<DamagedFile>> found = new HashMap<>();
        for (Map.Entry<Long, Map<Integer, List<Range>>> file : damaged.entrySet()) {
            List<String> paths = paths(file.getKey());
            file.getValue()
                    .forEach((finding, ranges) -> found.computeIfAbsent(finding, none -> new ArrayList<>())
                            .add(new DamagedFile(file.getKey(), paths, List.copyOf(ranges))));
        }
        return found;
    }

    private void find(Inode inode) throws IOException {
        long pageBytes = metadata.recipes().pageBytes();
        metadata.recipes()
                .forEachPage(inode.id(), 0, Long.MAX_VALUE, (number, page) -> find(inode, number * pageBytes, page));
    }

    private void find(Inode inode, long start, RecipePage page) {
        for (int entry = 0; entry < page.count(); entry++) {
            int finding = page.isZero(entry) ? -1 : lost.finding(page.chunkId(entry));
            long from = start + page.start(entry);
            long to = Math.min(inode.size(), start + page.end(entry));
            if (finding >= 0 && from < to) {
                add(
                        damaged.computeIfAbsent(inode.id(), none -> new TreeMap<>())
                                .computeIfAbsent(finding, none -> new ArrayList<>()),
                        from,
                        to);
            }
        }
    }

    /** Adds a range that begins at or after the end of the last one. */
    private static void add(List<Range> ranges, long from, long to) {
        int last = ranges.size() - 1;
        if (last >= 0 && ranges.get(last).to() == from) {
            ranges.set(last, new Range(ranges.get(last).from(), to));
        } else {
            ranges.add(new Range(from, to));
        }
    }

    private List<String> paths(long inode) throws IOException {
        List<String> paths = new ArrayList<>();
        for (Name name : names.getOrDefault(inode, List.of())) {
            paths.add(folder(name.directory()) + "/" + new String(name.name(), StandardCharsets.UTF_8));
        }
        paths.sort(null);
        return paths;
    }

    private String folder(long inode) throws IOException {
        String known = folders.get(inode);
        if (known != null) {
            return known;
        }
        StringBuilder path = new StringBuilder();
        long at = inode;
        for (int depth = 0; at != Inode.ROOT; depth++) {
            Inode folder = metadata.namespace().inode(at);
            byte[] name = folder == null || depth == MAX_DEPTH ? null : nameIn(folder.parent(), at);
            if (folder == null || name == null) {
                path.insert(0, "/...");
                break;
            }
            path.insert(0, new String(name, StandardCharsets.UTF_8)).insert(0, '/');
            at = folder.parent();
        }
        folders.put(inode, path.toString());
        return path.toString();
    }

    private byte @Nullable [] nameIn(long parent, long folder) throws IOException {
        byte[][] found = new byte[1][];
        metadata.namespace().list(parent, 0, (name, inode, type, cookie) -> {
            if (inode == folder) {
                found[0] = name;
            }
            return inode != folder;
        });
        return found[0];
    }
}
