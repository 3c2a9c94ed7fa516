package org.opendedup.sar.restore.tree;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.Namespace;

/**
 * A reader that may be going through a tree, as the files that it reads to their ends show. It begins with all orders,
 * and drops those that a file does not fit; after {@value #LEAST_FILES} files that fit, the order is proven. The reader
 * is taken to stay below the folder where it was seen first, until it goes on behind that folder: so nothing above the
 * tree that it wants is read ahead. For one thread.
 */
public final class TreeTrail {
    /** Files that fit an order before anything is read ahead. */
    static final int LEAST_FILES = 8;

    /** Files that a reader may leave out between two: it excludes some, the kernel has others in memory. */
    private static final int MOST_SKIPPED = 8;

    /** Distance of a file that is not among the next ones. */
    public static final int FAR = Integer.MAX_VALUE;

    /** Most folders that a reader rises by between two files. */
    private static final int MOST_LEVELS = 16;

    /** Heap bytes of a file that is known to come next. */
    private static final int NEXT_BYTES = 32;

    private final Namespace names;
    private final long mostBytes;
    private final List<Candidate> candidates = new ArrayList<>();
    private long top;
    private long folder;
    private long file;
    private int files;
    /** The orders in which {@link #file} may be followed above the top folder; null if that was not asked yet. */
    private @Nullable List<Above> above;

    /** A folder above the top one, with the orders in which the reader may go on below it. */
    private record Above(long folder, List<Candidate> candidates) {
        long heapBytes() {
            return TreeTrail.heapBytes(candidates);
        }
    }

    /** An order that fits so far, with the files that it has next. */
    private static final class Candidate {
        private final TreeOrder order;
        private final TreeWalk walk;
        private final Deque<Long> next = new ArrayDeque<>();

        Candidate(TreeOrder order, TreeWalk walk) throws IOException {
            this.order = order;
            this.walk = walk;
            look();
        }

        private void look() throws IOException {
            while (next.size() <= MOST_SKIPPED) {
                long inode = walk.next();
                if (inode == 0) {
                    return;
                }
                next.add(inode);
            }
        }

        long heapBytes() {
            return walk.heapBytes() + (long) NEXT_BYTES * next.size();
        }

        boolean isNearEnd() {
            return next.size() <= MOST_SKIPPED;
        }

        /** Returns how many files come before a file; {@link #FAR} if it is not among the next ones. */
        int distance(long inode) {
            int distance = 0;
            for (long file : next) {
                if (file == inode) {
                    return distance;
                }
                distance++;
            }
            return FAR;
        }

        /** Goes on to a file; false, without a change, if it is not among the next ones. */
        boolean goTo(long inode) throws IOException {
            if (distance(inode) == FAR) {
                return false;
            }
            while (next.remove() != inode) {}
            look();
            return true;
        }
    }

    /**
     * Begins at a file that a reader has read, directly after another file of the same folder.
     *
     * @param folder folder of the file
     * @param mostBytes heap bytes from which no further folder above is looked at; see {@link #heapBytes}
     */
    public TreeTrail(Namespace names, long folder, long file, long mostBytes) throws IOException {
        this.names = names;
        this.mostBytes = mostBytes;
        top = folder;
        this.folder = folder;
        this.file = file;
        FolderEntries entries = FolderEntries.read(names, folder);
        for (TreeOrder order : TreeOrder.values()) {
            if (entries.isFollowed()) {
                candidates.add(new Candidate(order, new TreeWalk(names, order, top, folder, file, entries)));
            }
        }
    }

    /** Heap bytes of the entries of folders in memory. */
    public long heapBytes() {
        long ofAbove =
                above == null ? 0 : above.stream().mapToLong(Above::heapBytes).sum();
        return heapBytes(candidates) + ofAbove;
    }

    private static long heapBytes(List<Candidate> candidates) {
        return candidates.stream().mapToLong(Candidate::heapBytes).sum();
    }

    /** Whether the reader can be followed: the folder has not too many entries. */
    public boolean isFollowed() {
        return !candidates.isEmpty();
    }

    /**
     * Returns how many files come before a file in the order that fits best; {@link #FAR} if it is none of the next.
     */
    public int distance(long inode) {
        int least = FAR;
        for (Candidate candidate : candidates) {
            least = Math.min(least, candidate.distance(inode));
        }
        return least;
    }

    /**
     * Notes that a file was read to its end.
     *
     * @param counts whether it says that the reader goes through a tree: a long file is read ahead itself
     * @return whether it is one of this reader's next files, or the first behind its top folder; if not, nothing
     *     changes
     */
    public boolean goTo(long itsFolder, long inode, boolean counts) throws IOException {
        List<Candidate> fitting = new ArrayList<>();
        for (Candidate candidate : candidates) {
            if (candidate.goTo(inode)) {
                fitting.add(candidate);
            }
        }
        if (fitting.isEmpty()) {
            fitting = rise(inode);
        }
        if (fitting.isEmpty()) {
            return false;
        }
        candidates.clear();
        candidates.addAll(fitting);
        folder = itsFolder;
        file = inode;
        above = null;
        files += counts ? 1 : 0;
        return true;
    }

    /** Returns the orders in which a file follows when a folder above is the top one; none if there is none. */
    private List<Candidate> rise(long inode) throws IOException {
        // Files of other readers are asked for as well: the folders are read once.
        above = above == null ? above() : above;
        for (Above level : above) {
            List<Candidate> fitting = new ArrayList<>();
            for (Candidate candidate : level.candidates) {
                if (candidate.goTo(inode)) {
                    fitting.add(candidate);
                }
            }
            if (!fitting.isEmpty()) {
                top = level.folder;
                return fitting;
            }
        }
        return List.of();
    }

    /** Returns the folders above the top one, the lowest first, up to one in which much follows. */
    private List<Above> above() throws IOException {
        List<TreeOrder> ended = candidates.stream()
                .filter(Candidate::isNearEnd)
                .map(c -> c.order)
                .toList();
        List<Above> levels = new ArrayList<>();
        if (ended.isEmpty()) {
            return levels;
        }
        FolderEntries entries = FolderEntries.read(names, folder);
        boolean isEnd = true;
        long bytes = heapBytes(candidates);
        for (long level = TreeWalk.parent(names, top);
                isEnd && level != 0 && levels.size() < MOST_LEVELS && bytes <= mostBytes;
                level = TreeWalk.parent(names, level)) {
            List<Candidate> behind = new ArrayList<>();
            for (TreeOrder order : ended) {
                behind.add(new Candidate(order, new TreeWalk(names, order, level, folder, file, entries)));
            }
            isEnd = behind.stream().allMatch(Candidate::isNearEnd);
            levels.add(new Above(level, behind));
            bytes += heapBytes(behind);
        }
        return levels;
    }

    /** Whether enough files fit. */
    public boolean isProven() {
        return files >= LEAST_FILES;
    }

    /** Returns the folder that the reader is taken to stay below. */
    public long top() {
        return top;
    }

    /** Returns what the reader is going to read after the last file. */
    public TreeWalk walk() throws IOException {
        return new TreeWalk(names, candidates.get(0).order, top, folder, file);
    }
}
