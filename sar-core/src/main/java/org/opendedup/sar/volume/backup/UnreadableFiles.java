package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;

/** Finds the files whose recipes refer to missing chunks, and their paths. */
final class UnreadableFiles {
    /** Maximum number of files that are named. */
    static final int MAX_NAMED = 1000;

    /** Deepest path that is followed: more is damage. */
    private static final int MAX_DEPTH = 10_000;

    private final MetadataStore metadata;
    private final Map<Long, BitSet> missing;
    private final List<DamagedFile> named = new ArrayList<>();
    private long files;

    private UnreadableFiles(MetadataStore metadata, Map<Long, BitSet> missing) {
        this.metadata = metadata;
        this.missing = missing;
    }

    static UnreadableFiles find(MetadataStore metadata, Map<Long, BitSet> missing) throws IOException {
        UnreadableFiles found = new UnreadableFiles(metadata, missing);
        if (!missing.isEmpty()) {
            metadata.namespace().forEachInode(found::visit);
            found.findPaths();
        }
        return found;
    }

    long count() {
        return files;
    }

    List<DamagedFile> named() {
        return named;
    }

    private void visit(Inode inode) throws IOException {
        if (inode.dataBytes() == 0) {
            return;
        }
        long[] bytes = new long[1];
        metadata.recipes().forEachPage(inode.id(), 0, Long.MAX_VALUE, (number, page) -> {
            for (int entry = 0; entry < page.count(); entry++) {
                if (!page.isZero(entry) && isMissing(page.chunkId(entry))) {
                    bytes[0] += page.length(entry);
                }
            }
        });
        if (bytes[0] > 0) {
            files++;
            if (named.size() < MAX_NAMED) {
                named.add(new DamagedFile(inode.id(), "", bytes[0]));
            }
        }
    }

    private boolean isMissing(long chunk) {
        BitSet slots = missing.get(ChunkId.container(chunk));
        return slots != null && slots.get(ChunkId.slot(chunk));
    }

    /** Finds the names of the files in one scan of all names; a file with several has one of them in its path. */
    private void findPaths() throws IOException {
        Map<Long, Integer> places = new HashMap<>();
        for (int i = 0; i < named.size(); i++) {
            places.put(named.get(i).inode(), i);
        }
        Map<Integer, NameIn> names = new HashMap<>();
        metadata.namespace().forEachEntry(Long.MAX_VALUE, (directory, name, inode, isDirectory) -> {
            Integer place = places.get(inode);
            if (place != null) {
                names.putIfAbsent(place, new NameIn(directory, new String(name, UTF_8)));
            }
        });
        for (Map.Entry<Integer, NameIn> found : names.entrySet()) {
            DamagedFile file = named.get(found.getKey());
            NameIn name = found.getValue();
            named.set(
                    found.getKey(),
                    new DamagedFile(file.inode(), folderPath(name.directory()) + "/" + name.name(), file.bytes()));
        }
    }

    private record NameIn(long directory, String name) {}

    /** Returns the path of a folder, empty for the root; begins with "?" where a name on the way is not found. */
    private String folderPath(long folder) throws IOException {
        StringBuilder path = new StringBuilder();
        long at = folder;
        for (int depth = 0; at != Inode.ROOT; depth++) {
            Inode inode = metadata.namespace().inode(at);
            String name = inode == null ? null : nameIn(inode.parent(), at);
            if (inode == null || name == null || depth == MAX_DEPTH) {
                return "?" + path;
            }
            path.insert(0, "/" + name);
            at = inode.parent();
        }
        return path.toString();
    }

    private @Nullable String nameIn(long directory, long inode) throws IOException {
        List<String> found = new ArrayList<>();
        metadata.namespace().list(directory, 0, (name, of, type, cookie) -> {
            if (of == inode) {
                found.add(new String(name, UTF_8));
            }
            return found.isEmpty();
        });
        return found.isEmpty() ? null : found.get(0);
    }
}
