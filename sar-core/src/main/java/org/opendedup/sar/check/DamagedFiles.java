package org.opendedup.sar.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.opendedup.sar.check.DamagedFile.Range;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.FolderPaths;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SnapshotIds;

/**
 * Finds which bytes of which files are in chunks that cannot be read: reads all recipes once, and then all names once.
 * Keeps in memory the damaged ranges, and the names of their files and of the folders above them: of {@value #MOST}
 * files at most, one range of each and {@value #MAX_RANGES} others, of a file at most {@value #MAX_RANGES_OF_FILE}; the
 * bytes of all others are counted.
 *
 * <p>Files may change meanwhile: of each page of a recipe this sees one state that it had since the begin.
 */
public final class DamagedFiles {
    private static final String DOTS = "/...";

    /** Most files that are kept: some 50 MB of memory, with ranges and names. */
    public static final int MOST = 50_000;

    /** Maximum number of names of one file that are kept. */
    private static final int MAX_NAMES = 100;

    /** Maximum number of characters of all paths together; of further ones only the last name is kept. */
    static final int MAX_PATH_CHARACTERS = 8 << 20;

    static final int MAX_RANGES = 200_000;
    static final int MAX_RANGES_OF_FILE = 20_000;

    /** Number of inodes that are visited with one cursor of the database. */
    private static final int INODES_AT_ONCE = 1000;

    /** The damaged bytes of one file for one finding. */
    private static final class Ranges {
        final List<Range> list = new ArrayList<>();
        long bytes;
        long more;
        /** End of the last range that was added or left out. */
        long end = -1;
    }

    private record Name(long directory, byte[] name) {}

    /** Further files with damaged bytes. */
    public static final class More {
        private long files;
        private long bytes;
        private long last;

        private void add(long inode, long count) {
            files += inode == last ? 0 : 1;
            last = inode;
            bytes += count;
        }

        public long files() {
            return files;
        }

        public long bytes() {
            return bytes;
        }
    }

    private final MetadataStore metadata;
    private final LostChunks lost;
    private final Progress progress;
    private final boolean withUnlinked;
    private final int mostFiles;
    private final More more = new More();
    private final Map<Integer, More> moreOfFindings = new TreeMap<>();
    private int ranges;
    /** Ranges by inode and by the number of the finding. */
    private final Map<Long, Map<Integer, Ranges>> damaged = new TreeMap<>();

    /** As {@link #damaged}; the ranges are neither sorted nor merged. */
    private final Map<Long, Map<Integer, List<Range>>> others = new HashMap<>();

    private final Map<Long, List<Name>> names = new HashMap<>();
    private final FolderPaths folders;
    private long pathCharacters;

    /**
     * @param progress called for each inode, in the thread of {@link #run}, which passes on what it throws
     * @param withUnlinked whether files count that have no name any more: on a mounted volume they may be open
     */
    public DamagedFiles(MetadataStore metadata, LostChunks lost, Progress progress, boolean withUnlinked) {
        this(metadata, lost, progress, withUnlinked, MOST);
    }

    /** @param mostFiles how many files are kept; of further ones, number and bytes are counted */
    public DamagedFiles(
            MetadataStore metadata, LostChunks lost, Progress progress, boolean withUnlinked, int mostFiles) {
        this.mostFiles = mostFiles;
        this.metadata = metadata;
        folders = new FolderPaths(metadata.namespace());
        this.lost = lost;
        this.progress = progress;
        this.withUnlinked = withUnlinked;
    }

    /** Adds a range that is damaged for another reason than a lost chunk, in any order; before {@link #run}. */
    void add(int finding, long inode, long from, long to) {
        if (others.size() >= mostFiles && !others.containsKey(inode)) {
            addMore(finding, inode, to - from);
            return;
        }
        others.computeIfAbsent(inode, none -> new TreeMap<>())
                .computeIfAbsent(finding, none -> new ArrayList<>())
                .add(new Range(from, to));
    }

    private void addMore(int finding, long inode, long bytes) {
        more.add(inode, bytes);
        moreOfFindings.computeIfAbsent(finding, none -> new More()).add(inode, bytes);
    }

    /** Returns the files that are not kept. */
    public More more() {
        return more;
    }

    /** Returns the files that are not kept, by the numbers of the findings. */
    public Map<Integer, More> moreOfFindings() {
        return moreOfFindings;
    }

    /** Returns the damaged files by the numbers of the findings. */
    public Map<Integer, List<DamagedFile>> run() throws IOException {
        if (!lost.isEmpty()) {
            findLost();
        }
        others.forEach((inode, byFinding) -> byFinding.forEach((finding, wrong) -> {
            Ranges merged = damaged.computeIfAbsent(inode, none -> new TreeMap<>())
                    .computeIfAbsent(finding, none -> new Ranges());
            wrong.sort(Comparator.comparingLong(Range::from));
            wrong.forEach(range -> add(merged, range.from(), range.to()));
        }));
        if (damaged.isEmpty()) {
            return Map.of();
        }
        Set<Long> snapshots = new TreeSet<>();
        damaged.keySet().forEach(inode -> snapshots.add(SnapshotIds.snapshot(inode)));
        for (long snapshot : snapshots) {
            findNames(snapshot);
        }
        Map<Integer, List<DamagedFile>> found = new HashMap<>();
        for (Map.Entry<Long, Map<Integer, Ranges>> file : damaged.entrySet()) {
            List<String> paths = paths(file.getKey());
            file.getValue()
                    .forEach((finding, of) -> found.computeIfAbsent(finding, none -> new ArrayList<>())
                            .add(new DamagedFile(file.getKey(), paths, of.list, of.bytes, of.more)));
        }
        return found;
    }

    private void findNames(long snapshot) throws IOException {
        metadata.namespace().forEachEntry(snapshot, Long.MAX_VALUE, (directory, name, inode, isDirectory) -> {
            if (damaged.containsKey(inode)) {
                List<Name> known = names.computeIfAbsent(inode, none -> new ArrayList<>(1));
                if (known.size() < MAX_NAMES) {
                    known.add(new Name(directory, name));
                }
            }
        });
    }

    private void findLost() throws IOException {
        long files = metadata.totals().files();
        long[] done = new long[1];
        long next = 1;
        do {
            next = metadata.namespace().someInodes(next, INODES_AT_ONCE, inode -> {
                progress.at("damaged files", done[0]++, files);
                if (inode.links() > 0 || withUnlinked) {
                    find(inode);
                }
            });
        } while (next != 0);
        byte[] version = null;
        do {
            version = metadata.recipes().someVersions(version, INODES_AT_ONCE, (key, inode, page, recipe) -> {
                long start = page * metadata.recipes().pageBytes();
                // A file that was longer at its end shows no byte behind it; the page has no more than the file had.
                find(inode, Long.MAX_VALUE, start, recipe);
            });
            progress.at("damaged files", done[0], files);
        } while (version != null);
    }

    private void find(Inode inode) throws IOException {
        long pageBytes = metadata.recipes().pageBytes();
        metadata.recipes()
                .forEachPage(
                        inode.id(),
                        0,
                        Long.MAX_VALUE,
                        (number, page) -> find(inode.id(), inode.size(), number * pageBytes, page));
    }

    private void find(long inode, long size, long start, RecipePage page) {
        for (int entry = 0; entry < page.count(); entry++) {
            int finding = page.isZero(entry) ? -1 : lost.finding(page.chunkId(entry));
            long from = start + page.start(entry);
            long to = Math.min(size, start + page.end(entry));
            if (finding >= 0 && from < to && damaged.size() >= mostFiles && !damaged.containsKey(inode)) {
                addMore(finding, inode, to - from);
            } else if (finding >= 0 && from < to) {
                add(
                        damaged.computeIfAbsent(inode, none -> new TreeMap<>())
                                .computeIfAbsent(finding, none -> new Ranges()),
                        from,
                        to);
            }
        }
    }

    /** Adds a range that begins at or after the end of the last one. */
    private void add(Ranges of, long from, long to) {
        int last = of.list.size() - 1;
        of.bytes += to - from;
        if (of.end == from) {
            if (of.more == 0) {
                of.list.set(last, new Range(of.list.get(last).from(), to));
            }
        } else if (of.list.isEmpty() || ranges < MAX_RANGES && of.list.size() < MAX_RANGES_OF_FILE) {
            of.list.add(new Range(from, to));
            ranges++;
        } else {
            of.more++;
        }
        of.end = to;
    }

    private List<String> paths(long inode) throws IOException {
        List<String> paths = new ArrayList<>();
        for (Name name : names.getOrDefault(inode, List.of())) {
            String folder = pathCharacters < MAX_PATH_CHARACTERS ? folder(name.directory()) : DOTS;
            String path = folder + "/" + new String(name.name(), StandardCharsets.UTF_8);
            pathCharacters += path.length();
            paths.add(path);
        }
        paths.sort(null);
        return paths;
    }

    /** Returns the path of a folder from the root of the volume. */
    private String folder(long inode) throws IOException {
        String path = new String(folders.of(inode).bytes(), StandardCharsets.UTF_8);
        return SnapshotIds.isInSnapshot(inode) ? inSnapshot(SnapshotIds.snapshot(inode)) + path : path;
    }

    private String inSnapshot(long snapshot) throws IOException {
        byte[][] found = new byte[1][];
        metadata.namespace().list(SnapshotIds.FOLDER, 0, (name, root, type, cookie) -> {
            if (SnapshotIds.snapshot(root) == snapshot) {
                found[0] = name;
            }
            return found[0] == null;
        });
        return "/" + Namespace.SNAPSHOT_FOLDER
                + (found[0] == null ? DOTS : "/" + new String(found[0], StandardCharsets.UTF_8));
    }
}
