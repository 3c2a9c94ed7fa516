package org.opendedup.sar.volume.diff;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.FolderPaths;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.volume.diff.Change.Kind;
import org.opendedup.sar.volume.diff.Found.Name;

/**
 * Tells what became of each file, from what differs of it. A file is the same if it has the same inode, whose number is
 * never used again. Of a file that is in both states, names that are gone and new ones are paired: it is renamed. For
 * one thread.
 */
final class FileChanges {
    private static final String TELLING = "paths";

    private final State from;
    private final State to;
    private final FolderPaths folders;
    private final Progress progress;
    private final Change.Consumer consumer;
    private final long[] counts = new long[Kind.values().length];
    private long told;

    FileChanges(MetadataStore metadata, State from, State to, Progress progress, Change.Consumer consumer) {
        this.from = from;
        this.to = to;
        this.progress = progress;
        this.consumer = consumer;
        folders = new FolderPaths(metadata.namespace());
    }

    /** Returns the number of the changes of a kind. */
    long count(Kind kind) {
        return counts[kind.ordinal()];
    }

    /** A file of which something differs. */
    private static final class Differing {
        final long inode;
        long bits;
        final TreeSet<Name> old = new TreeSet<>();
        final TreeSet<Name> now = new TreeSet<>();

        Differing(long inode) {
            this.inode = inode;
        }

        boolean has(long bit) {
            return (bits & bit) != 0;
        }

        boolean isModified() {
            return has(Found.CONTENT | Found.ATTRIBUTES);
        }
    }

    void run(Found.Cursor cursor) throws IOException {
        boolean more = cursor.next();
        while (more) {
            Differing file = new Differing(cursor.inode());
            while (more && cursor.inode() == file.inode && cursor.kind() != Found.Kind.ANY) {
                switch (cursor.kind()) {
                    case CHANGED -> file.bits |= cursor.bits();
                    case OLD -> file.old.add(cursor.name());
                    default -> file.now.add(cursor.name());
                }
                more = cursor.next();
            }
            tell(file);
            while (more && cursor.inode() == file.inode) {
                if (file.isModified() && !file.now.contains(cursor.name())) {
                    tellModified(file, cursor.name());
                }
                more = cursor.next();
            }
        }
    }

    private void tell(Differing file) throws IOException {
        if (file.old.isEmpty() && file.now.isEmpty()) {
            if (file.isModified() && file.has(Found.FOLDER)) {
                tellModifiedFolder(file);
            }
            return;
        }
        List<Name> old = reached(from, file.old);
        List<Name> now = reached(to, file.now);
        boolean wasHidden = file.has(Found.HIDDEN_BEFORE) || old.isEmpty() && !file.old.isEmpty();
        boolean isHidden = file.has(Found.HIDDEN_NOW) || now.isEmpty() && !file.now.isEmpty();
        boolean was = !wasHidden && from.shows(file.inode);
        boolean is = !isHidden && to.shows(file.inode);
        if (was && is) {
            tellNames(file, old, now);
        } else if (is) {
            tellNew(file, now);
        } else if (was) {
            tellGone(file, old);
        }
    }

    /** Returns the names to whose folders the root leads. */
    private List<Name> reached(State state, Set<Name> names) throws IOException {
        List<Name> reached = new ArrayList<>(names.size());
        for (Name name : names) {
            if (folder(state, name).isReached()) {
                reached.add(name);
            }
        }
        return reached;
    }

    private FolderPaths.Path folder(State state, Name name) throws IOException {
        return folders.of(state.id(name.directory()));
    }

    private byte[] path(State state, long inode, Name name) throws IOException {
        return folder(state, name).of(state.name(name.directory(), name.position(), inode));
    }

    private void tellNames(Differing file, List<Name> old, List<Name> now) throws IOException {
        int renamed = Math.min(old.size(), now.size());
        for (int i = 0; i < renamed; i++) {
            tell(new Change(
                    Kind.RENAMED,
                    path(from, file.inode, old.get(i)),
                    path(to, file.inode, now.get(i)),
                    old.get(i).type(),
                    file.inode,
                    file.has(Found.CONTENT),
                    file.has(Found.ATTRIBUTES),
                    false,
                    false));
        }
        for (Name gone : old.subList(renamed, old.size())) {
            tell(Kind.DELETED, from, gone, file.inode, true, false);
        }
        for (Name made : now.subList(renamed, now.size())) {
            tell(Kind.ADDED, to, made, file.inode, true, false);
        }
    }

    private void tellNew(Differing file, List<Name> now) throws IOException {
        boolean isNew = !from.shows(file.inode);
        for (Name made : now) {
            boolean isReplaced = isNew && made.other() != 0 && !to.shows(made.other());
            tell(isReplaced ? Kind.MODIFIED : Kind.ADDED, to, made, file.inode, false, isReplaced);
        }
    }

    private void tellGone(Differing file, List<Name> old) throws IOException {
        boolean isGone = !to.shows(file.inode);
        for (Name gone : old) {
            // Told of the file that has the path now.
            boolean isReplaced = isGone && gone.other() != 0 && !from.shows(gone.other());
            if (!isReplaced) {
                tell(Kind.DELETED, from, gone, file.inode, false, false);
            }
        }
    }

    private void tell(Kind kind, State state, Name name, long inode, boolean isLink, boolean isReplaced)
            throws IOException {
        byte[] path = path(state, inode, name);
        tell(new Change(kind, path, null, name.type(), inode, false, false, isLink, isReplaced));
    }

    private void tellModifiedFolder(Differing file) throws IOException {
        FolderPaths.Path path = folders.of(to.id(file.inode));
        if (path.isReached()) {
            byte[] shown = path.bytes().length == 0 ? new byte[] {'/'} : path.bytes();
            tell(modified(file, shown, Modes.DIRECTORY));
        }
    }

    private void tellModified(Differing file, Name name) throws IOException {
        Inode inode = to.inode(file.inode);
        if (inode != null && folder(to, name).isReached()) {
            tell(modified(file, path(to, file.inode, name), inode.type()));
        }
    }

    private static Change modified(Differing file, byte[] path, int type) {
        return new Change(
                Kind.MODIFIED,
                path,
                null,
                type,
                file.inode,
                file.has(Found.CONTENT),
                file.has(Found.ATTRIBUTES),
                false,
                false);
    }

    private void tell(Change change) throws IOException {
        progress.at(TELLING, ++told, 0);
        counts[change.kind().ordinal()]++;
        consumer.accept(change);
    }
}
