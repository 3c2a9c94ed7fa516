package org.opendedup.sar.volume.diff;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.versions.StateDifference;
import org.opendedup.sar.sort.TupleSort;
import org.opendedup.sar.volume.diff.Found.Kind;
import org.opendedup.sar.volume.diff.Found.Name;

/**
 * Finds what differs between two snapshots. Each change of a file's bytes, attributes or extended attributes also
 * writes the record of its inode, and each change of a name that of the directory. So the inodes whose records differ
 * are found first, by their deaths and by their numbers; and of these only, their pages, attributes and names are
 * compared. Pages that differ are found by deaths, too: one that is only new adds to the bytes that the inode counts.
 * For one thread.
 */
final class InodeComparison {
    private static final String LOOKING = "changed files and folders";
    private static final String NAMES = "names of changed files";

    /** Inodes with numbers without gaps that are compared together. */
    private static final int BATCH = 1024;

    /** New inodes that are looked for between two points at which the work can stop. */
    private static final long BLOCK = 1 << 16;

    /** Bytes of inode numbers, and of numbers of pages, that are sorted in memory. */
    private static final int SORT_BYTES = 2 << 20;

    /** An inode has the bit of the remainder of its number: 8 MiB of bits. */
    private static final long MARKS = 1 << 26;

    private final MetadataStore metadata;
    private final State from;
    private final State to;
    private final StateDifference difference;
    private final Found found;
    private final Progress progress;
    private final List<Candidate> batch = new ArrayList<>();
    /** Folders of which the names are compared besides. */
    private final Deque<Long> restored = new ArrayDeque<>();

    /** Files of which all names are looked for. Others may have the same bit. */
    private final BitSet marks = new BitSet();

    private long looked;

    InodeComparison(MetadataStore metadata, State from, State to, Found found, Progress progress) {
        this.metadata = metadata;
        this.from = from;
        this.to = to;
        this.found = found;
        this.progress = progress;
        long one = from.snapshot().number();
        long other = to.snapshot().number();
        difference = metadata.difference(Math.min(one, other), Math.max(one, other));
    }

    void run(Scratch scratch) throws IOException {
        try (TupleSort inodes = sort(scratch, "inodes", 1);
                TupleSort pages = sort(scratch, "pages", 2)) {
            findInodes(inodes);
            difference.forEachGone(Family.RECIPE, key -> {
                pages.add(new long[] {Keys.longAt(key, 0), Keys.longAt(key, Keys.LONG_BYTES)});
                atInode();
            });
            compare(inodes.sorted(Long.MIN_VALUE), new Pages(pages.sorted(Long.MIN_VALUE)));
        }
        if (!marks.isEmpty()) {
            findNames();
        }
    }

    private static TupleSort sort(Scratch scratch, String name, int columns) {
        return new TupleSort(scratch.directory(), name, columns, SORT_BYTES, scratch.steps(), scratch.keys());
    }

    /** The pages that one state has and the other has not, or has others of, but for holes that were filled. */
    private static final class Pages {
        private final TupleSort.Cursor cursor;
        private boolean isAtPage;

        Pages(TupleSort.Cursor cursor) throws IOException {
            this.cursor = cursor;
            isAtPage = cursor.next();
        }

        /** Returns the next page of an inode; -1 if there is none. Inodes are asked for in ascending order. */
        long next(long inode) throws IOException {
            while (isAtPage && cursor.get(0) < inode) {
                isAtPage = cursor.next();
            }
            if (!isAtPage || cursor.get(0) != inode) {
                return -1;
            }
            long page = cursor.get(1);
            isAtPage = cursor.next();
            return page;
        }
    }

    private void findInodes(TupleSort inodes) throws IOException {
        long[] inode = new long[1];
        StateDifference.KeyConsumer add = key -> {
            inode[0] = Keys.longAt(key, 0);
            inodes.add(inode);
            atInode();
        };
        difference.forEachGone(Family.INODE, add);
        long one = from.snapshot().firstInode();
        long other = to.snapshot().firstInode();
        long end = Math.max(one, other);
        for (long next = Math.min(one, other); next < end; next += BLOCK) {
            progress.at(LOOKING, looked, 0);
            difference.forEachKey(Family.INODE, Keys.of(next), Keys.of(Math.min(end, next + BLOCK)), add);
        }
    }

    private void atInode() throws InterruptedIOException {
        progress.at(LOOKING, ++looked, 0);
    }

    /** An inode whose records differ. */
    private static final class Candidate {
        final long inode;
        final boolean isFolder;
        /** Whether it is a file in both states, and not only in one. */
        final boolean isInBoth;

        final @Nullable Inode before;
        final @Nullable Inode now;
        boolean content;
        boolean attributes;

        Candidate(long inode, @Nullable Inode before, @Nullable Inode now) {
            this.inode = inode;
            this.before = before;
            this.now = now;
            isFolder = before != null && before.isDirectory() || now != null && now.isDirectory();
            isInBoth = before != null && now != null && before.links() > 0 && now.links() > 0;
            if (before != null && now != null && isInBoth) {
                content = now.isFile() && before.size() != now.size();
                attributes = before.mode() != now.mode()
                        || before.uid() != now.uid()
                        || before.gid() != now.gid()
                        || before.device() != now.device();
            }
        }

        /** Returns the length of a file whose pages decide whether its content differs; else 0. */
        long sizeToCompare() {
            return isInBoth && !content && now != null && now.isFile() ? now.size() : 0;
        }

        /** Returns whether pages may be new where a hole was, or the other way round. */
        boolean mayHaveFilledHoles() {
            return sizeToCompare() > 0 && before != null && now != null && before.dataBytes() != now.dataBytes();
        }

        /** Returns whether the modification time differs. That of a folder says that names do. */
        boolean isTouched() {
            return before != null
                    && now != null
                    && !isFolder
                    && before.times().modifiedNs() != now.times().modifiedNs();
        }

        long bits() {
            return (content ? Found.CONTENT : 0)
                    | (attributes || !content && isTouched() ? Found.ATTRIBUTES : 0)
                    | (isFolder ? Found.FOLDER : 0);
        }
    }

    /** Compares inodes in ascending order, of which each may be told several times: those without gaps together. */
    private void compare(TupleSort.Cursor inodes, Pages gone) throws IOException {
        long first = 0;
        int count = 0;
        while (inodes.next()) {
            long inode = inodes.get(0);
            if (count > 0 && inode == first + count - 1) {
                continue;
            }
            if (count == BATCH || count > 0 && inode != first + count) {
                compareBatch(first, count, gone);
                count = 0;
            }
            first = count == 0 ? inode : first;
            count++;
        }
        compareBatch(first, count, gone);
    }

    private void compareBatch(long first, int count, Pages gone) throws IOException {
        @Nullable Inode[] before = from.inodes(first, count);
        @Nullable Inode[] now = to.inodes(first, count);
        for (int i = 0; i < count; i++) {
            Candidate candidate = new Candidate(first + i, before[i], now[i]);
            batch.add(candidate);
            for (long page = gone.next(candidate.inode); page >= 0; page = gone.next(candidate.inode)) {
                comparePage(candidate, page);
            }
            if (candidate.before != null && candidate.now != null && candidate.isFolder) {
                addBelowIfHidden(candidate.before, candidate.now);
            }
            atInode();
        }
        compareRecords();
        batch.clear();
        compareRestored();
    }

    /** Adds what is in a folder that has its name since a clone is complete: it was made before, out of sight. */
    private void addBelowIfHidden(Inode before, Inode now) throws IOException {
        if (SnapshotIds.inode(before.parent()) == SnapshotIds.inode(now.parent())) {
            return;
        }
        boolean wasReached = from.reaches(before);
        boolean isReached = to.reaches(now);
        if (isReached && !wasReached) {
            addBelow(SnapshotIds.inode(now.id()), to, Kind.NEW, Found.HIDDEN_BEFORE);
        } else if (wasReached && !isReached) {
            addBelow(SnapshotIds.inode(now.id()), from, Kind.OLD, Found.HIDDEN_NOW);
        }
    }

    private void addBelow(long top, State state, Kind kind, long bit) throws IOException {
        Deque<Long> left = new ArrayDeque<>();
        left.push(top);
        while (!left.isEmpty()) {
            long folder = left.pop();
            metadata.namespace().list(state.id(folder), 0, (name, id, type, cookie) -> {
                long inode = SnapshotIds.inode(id);
                found.addChanged(inode, bit);
                found.addName(inode, kind, new Name(folder, metadata.namespace().position(folder, name), type, 0));
                if (Modes.isDirectory(type)) {
                    left.push(inode);
                }
                atInode();
                return true;
            });
        }
    }

    /** Compares what else the inodes of the batch have. */
    private void compareRecords() throws IOException {
        forRuns(
                candidate -> candidate.isFolder,
                (first, end) -> difference.forEachKey(Family.ENTRY, first, end, this::compareName));
        forRuns(
                candidate -> candidate.isInBoth && !candidate.attributes,
                (first, end) -> difference.forEachKey(Family.XATTR, first, end, this::compareAttribute));
        forRuns(
                Candidate::mayHaveFilledHoles,
                (first, end) -> difference.forEachKey(
                        Family.RECIPE,
                        first,
                        end,
                        key -> comparePage(candidate(key), Keys.longAt(key, Keys.LONG_BYTES))));
        for (Candidate candidate : batch) {
            if (candidate.isInBoth && (candidate.bits() & ~Found.FOLDER) != 0) {
                found.addChanged(candidate.inode, candidate.bits());
                if (!candidate.isFolder) {
                    marks.set(mark(candidate.inode));
                }
            }
        }
    }

    private static int mark(long inode) {
        return (int) (inode & MARKS - 1);
    }

    @FunctionalInterface
    private interface RangeUse {
        void of(byte[] first, byte[] end) throws IOException;
    }

    /** Uses the ranges of the keys of candidates of the batch, which have numbers without gaps. */
    private void forRuns(Predicate<Candidate> wanted, RangeUse use) throws IOException {
        for (int at = 0; at < batch.size(); at++) {
            int first = at;
            while (at < batch.size() && wanted.test(batch.get(at))) {
                at++;
            }
            if (at > first) {
                use.of(Keys.of(batch.get(first).inode), Keys.of(batch.get(at - 1).inode + 1));
            }
        }
    }

    private Candidate candidate(byte[] key) {
        return batch.get((int) (Keys.longAt(key, 0) - batch.get(0).inode));
    }

    private void compareName(byte[] key) throws IOException {
        long directory = Keys.longAt(key, 0);
        byte[] name = Entry.name(key);
        Entry before = from.entry(directory, name);
        Entry now = to.entry(directory, name);
        long old = before == null ? 0 : SnapshotIds.inode(before.inode());
        long other = now == null ? 0 : SnapshotIds.inode(now.inode());
        if (old == other) {
            return;
        }
        boolean isReplaced =
                before != null && now != null && before.type() == now.type() && !Modes.isDirectory(before.type());
        if (now != null && Modes.isDirectory(now.type())) {
            noteIfRestored(other, to, from);
        }
        if (before != null && Modes.isDirectory(before.type())) {
            noteIfRestored(old, from, to);
        }
        long position = Keys.longAt(key, Keys.LONG_BYTES);
        if (before != null) {
            found.addName(old, Kind.OLD, new Name(directory, position, before.type(), isReplaced ? other : 0));
        }
        if (now != null) {
            found.addName(other, Kind.NEW, new Name(directory, position, now.type(), isReplaced ? old : 0));
        }
    }

    /**
     * Notes a folder that the older state does not have, though its number is one of that time: a rollback or a
     * received snapshot made it again. Its inode is not among those that are found by numbers.
     */
    private void noteIfRestored(long folder, State state, State other) throws IOException {
        if (!other.isLater(folder)
                && state.snapshot().number() > other.snapshot().number()
                && other.inode(folder) == null) {
            restored.push(folder);
        }
    }

    private void compareRestored() throws IOException {
        while (!restored.isEmpty()) {
            long folder = restored.pop();
            difference.forEachKey(Family.ENTRY, Keys.of(folder), Keys.of(folder + 1), this::compareName);
            atInode();
        }
    }

    private void compareAttribute(byte[] key) throws IOException {
        Candidate candidate = candidate(key);
        byte[] name = Arrays.copyOfRange(key, Keys.LONG_BYTES, key.length);
        Namespace namespace = metadata.namespace();
        candidate.attributes |= !Arrays.equals(
                namespace.attribute(from.id(candidate.inode), name), namespace.attribute(to.id(candidate.inode), name));
    }

    private void comparePage(Candidate candidate, long page) throws IOException {
        int pageBytes = metadata.recipes().pageBytes();
        int length = (int) Math.min(pageBytes, candidate.sizeToCompare() - page * pageBytes);
        if (length > 0) {
            candidate.content = !isSame(
                    metadata.recipes().page(from.id(candidate.inode), page),
                    metadata.recipes().page(to.id(candidate.inode), page),
                    length);
            progress.at(LOOKING, looked, 0);
        }
    }

    /** Returns whether two pages have the same chunks up to an offset. Behind it, a page may have what is cut off. */
    private static boolean isSame(RecipePage one, RecipePage other, int length) {
        RecipePage first = new RecipePage.Builder().addRange(one, 0, length).build();
        RecipePage second = new RecipePage.Builder().addRange(other, 0, length).build();
        boolean isSame = first.count() == second.count();
        for (int entry = 0; isSame && entry < first.count(); entry++) {
            isSame = first.chunkId(entry) == second.chunkId(entry)
                    && first.chunkOffset(entry) == second.chunkOffset(entry)
                    && first.end(entry) == second.end(entry);
        }
        return isSame;
    }

    /** Finds the names of changed files, by one pass over all names. */
    private void findNames() throws IOException {
        long[] passed = new long[1];
        metadata.namespace().forEachEntry(to.snapshot().number(), Long.MAX_VALUE, (folder, name, id, isDirectory) -> {
            progress.at(NAMES, passed[0]++, to.snapshot().files());
            long inode = SnapshotIds.inode(id);
            if (!isDirectory && marks.get(mark(inode))) {
                long directory = SnapshotIds.inode(folder);
                found.addName(
                        inode,
                        Kind.ANY,
                        new Name(directory, metadata.namespace().position(directory, name), 0, 0));
            }
        });
    }
}
