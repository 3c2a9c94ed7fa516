package org.opendedup.sar.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.HandleDecorator;
import org.opendedup.sar.model.Listing;
import org.opendedup.sar.model.ModelFileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.model.SparseBytes;
import org.opendedup.sar.volume.posix.Attributes;

/**
 * The model, and every state of it that a crash may show:
 *
 * <ul>
 *   <li><b>Names</b> (with modes, owners, link counts, targets, extended attributes) as after one of the ops since the
 *       last sync of any file, all of the same moment: commits are atomic and in order, and a sync commits all pending
 *       changes.
 *   <li><b>Bytes</b> of a file: each byte as in one of the versions of the file since the last sync that covered it, or
 *       since its last change of name that the crash shows, which commits the file's bytes with it. The size is that of
 *       a version, or lies between those of two neighbouring ones, because a large write may be committed in parts.
 * </ul>
 *
 * <p>Files on the fast tier have a weaker rule, as on ext4:
 *
 * <ul>
 *   <li>A sync of a file makes its creation durable, and not every other change of names.
 *   <li>A name may appear before its bytes: each byte is as in one of the versions since the last sync that covered the
 *       file, or zero if one of these is shorter. The size is that of a version, or lies between two of them.
 * </ul>
 */
final class CrashHistory extends ModelFileSystem {
    private final List<Names> names = new ArrayList<>();
    private final Map<Long, List<Version>> versions = new HashMap<>();
    private final Set<Long> syncedInodes = new HashSet<>();
    private final boolean isRaw;
    private boolean syncedAll;
    private int op;

    /** The names after op {@code since}, until the next such state. */
    private record Names(int since, List<String> lines, Map<String, Long> inodes) {
        Set<String> namesOf(long inode) {
            return inodes.entrySet().stream()
                    .filter(entry -> entry.getValue() == inode)
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toSet());
        }
    }

    /** A file's bytes after op {@code since}. */
    private record Version(int since, long number, SparseBytes bytes) {
        @Override
        public String toString() {
            return "op " + since + ": " + bytes.size() + " bytes";
        }
    }

    CrashHistory() throws IOException {
        this(false);
    }

    /** @param isRaw whether files may lie on the fast tier */
    CrashHistory(boolean isRaw) throws IOException {
        this.isRaw = isRaw;
        remember();
    }

    @Override
    public Handle open(long inode, boolean writable) throws IOException {
        return new SyncedHandle(super.open(inode, writable), inode);
    }

    @Override
    public void sync() {
        syncedAll = true;
    }

    /** Called after every op: {@code survived} says whether its syncs, if any, returned before the power cut. */
    void endOfOp(boolean survived) throws IOException {
        op++;
        remember();
        if (survived && (syncedAll || !syncedInodes.isEmpty())) {
            keepSyncedNames();
            versions.forEach((inode, list) -> {
                if (syncedAll || syncedInodes.contains(inode)) {
                    keepOnlyLast(list);
                }
            });
        }
        syncedAll = false;
        syncedInodes.clear();
    }

    private void keepSyncedNames() {
        if (syncedAll || !isRaw) {
            keepOnlyLast(names);
            return;
        }
        for (long inode : syncedInodes) {
            if (!names.get(names.size() - 1).namesOf(inode).isEmpty()) {
                while (names.get(0).namesOf(inode).isEmpty()) {
                    names.remove(0);
                }
            }
        }
    }

    private void remember() throws IOException {
        Listing listing = new Listing(this);
        List<String> lines = listing.names();
        if (names.isEmpty() || !names.get(names.size() - 1).lines.equals(lines)) {
            Map<String, Long> inodes = new TreeMap<>();
            listing.tree().forEach((path, attributes) -> inodes.put(path, attributes.inode()));
            names.add(new Names(op, lines, inodes));
        }
        for (long inode : inodes()) {
            List<Version> list = versions.computeIfAbsent(inode, absent -> new ArrayList<>());
            if (isRaw && list.isEmpty()) {
                // An op may make a file, write it and name it; another file's fsync makes its name durable, no bytes.
                list.add(new Version(op, -1, new SparseBytes()));
            }
            if (list.isEmpty() || list.get(list.size() - 1).number != version(inode)) {
                list.add(new Version(op, version(inode), contents(inode)));
            }
        }
    }

    private static <T> void keepOnlyLast(List<T> list) {
        list.subList(0, list.size() - 1).clear();
    }

    /** The first difference between a file system found after the crash and every permitted state, if any. */
    Optional<String> problem(FileSystem found) throws IOException {
        Listing listing = new Listing(found);
        List<String> lines = listing.names();
        Map<String, Attributes> tree = listing.tree();
        Optional<String> problem = Optional.of(namesProblem(lines));
        for (int state = names.size() - 1; state >= 0 && problem.isPresent(); state--) {
            if (names.get(state).lines.equals(lines)) {
                problem = bytesProblem(found, tree, state);
            }
        }
        return problem;
    }

    private String namesProblem(List<String> lines) {
        Names oldest = names.get(0);
        Names newest = names.get(names.size() - 1);
        return "the names found are of none of the " + names.size()
                + " moments since the last sync\n  against the oldest, op "
                + oldest.since + ": " + difference(oldest.lines, lines) + "\n  against the newest, op " + newest.since
                + ": " + difference(newest.lines, lines);
    }

    private static String difference(List<String> expected, List<String> found) {
        List<String> missing = new ArrayList<>(expected);
        missing.removeAll(found);
        List<String> surplus = new ArrayList<>(found);
        surplus.removeAll(expected);
        return "missing " + missing + ", surplus " + surplus;
    }

    private Optional<String> bytesProblem(FileSystem found, Map<String, Attributes> tree, int state)
            throws IOException {
        for (Map.Entry<String, Attributes> entry : tree.entrySet()) {
            if (Modes.isRegular(entry.getValue().mode())) {
                long inode = names.get(state).inodes.get(entry.getKey());
                Optional<String> problem = fileProblem(found, entry.getValue(), allowed(inode, state));
                if (problem.isPresent()) {
                    return problem.map(text ->
                            "/" + entry.getKey() + ", " + entry.getValue().size() + " bytes: " + text);
                }
            }
        }
        return Optional.empty();
    }

    /** The versions of a file that may be visible if the names are those of {@code state}. */
    private List<Version> allowed(long inode, int state) {
        if (isRaw) {
            return versions.get(inode);
        }
        int named = state;
        Set<String> shown = names.get(state).namesOf(inode);
        while (named > 0 && names.get(named - 1).namesOf(inode).equals(shown)) {
            named--;
        }
        int floor = named == 0 ? 0 : names.get(named).since;
        List<Version> list = versions.get(inode);
        int first = list.size() - 1;
        while (first > 0 && list.get(first).since > floor) {
            first--;
        }
        return list.subList(first, list.size());
    }

    private Optional<String> fileProblem(FileSystem found, Attributes attributes, List<Version> allowed)
            throws IOException {
        long size = attributes.size();
        if (!isAllowedSize(size, allowed)) {
            return Optional.of("is " + size + " bytes long; its versions are " + allowed);
        }
        try (FileSystem.Handle handle = found.open(attributes.inode(), false)) {
            ByteBuffer page = ByteBuffer.allocate(SparseBytes.PAGE_BYTES);
            for (long offset = 0; offset < size; offset += SparseBytes.PAGE_BYTES) {
                int expected = (int) Math.min(SparseBytes.PAGE_BYTES, size - offset);
                int read = handle.read(offset, page.clear());
                if (read != expected) {
                    return Optional.of("gives " + read + " bytes at " + offset + " instead of " + expected);
                }
                Optional<String> problem = pageProblem(offset, page.array(), read, allowed);
                if (problem.isPresent()) {
                    return problem;
                }
            }
        }
        return Optional.empty();
    }

    private boolean isAllowedSize(long size, List<Version> allowed) {
        if (isRaw) {
            return size >= shortest(allowed) && allowed.stream().anyMatch(version -> size <= version.bytes.size());
        }
        for (int i = 0; i < allowed.size(); i++) {
            long own = allowed.get(i).bytes.size();
            long next = allowed.get(Math.min(i + 1, allowed.size() - 1)).bytes.size();
            if (size == own || (size > own && size <= next)) {
                return true;
            }
        }
        return false;
    }

    private static long shortest(List<Version> allowed) {
        return allowed.stream().mapToLong(version -> version.bytes.size()).min().orElseThrow();
    }

    private Optional<String> pageProblem(long offset, byte[] page, int length, List<Version> allowed) {
        List<byte[]> pages = allowed.stream()
                .map(version -> version.bytes.page(offset / SparseBytes.PAGE_BYTES))
                .toList();
        for (int i = 0; i < length; i++) {
            long at = offset + i;
            boolean known = isRaw && page[i] == 0 && at >= shortest(allowed);
            for (int version = 0; version < pages.size() && !known; version++) {
                known = pages.get(version)[i] == page[i]
                        && at < allowed.get(version).bytes.size();
            }
            if (!known) {
                return Optional.of(
                        "byte " + at + " is " + page[i] + ", which it was in none of its versions " + allowed);
            }
        }
        return Optional.empty();
    }

    /** Records a sync. */
    private final class SyncedHandle extends HandleDecorator {
        private final long inode;

        SyncedHandle(Handle handle, long inode) {
            super(handle);
            this.inode = inode;
        }

        @Override
        public void sync(boolean dataOnly) {
            syncedInodes.add(inode);
        }
    }
}
