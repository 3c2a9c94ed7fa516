package org.opendedup.sar.volume.clone;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * Clones a file or a folder with all that is below it: names, links, owners, modes, times and extended attributes, and
 * the bytes of files by references to their chunks. No bytes are read or stored.
 *
 * <p>The clone is built in a <i>staging directory</i>, which has no name and is on the list of orphans. When it is
 * complete, one rename gives it its name. So nobody sees a part of it; a clone that was stopped is removed in the
 * background, and one that a crash interrupted by the next mount.
 *
 * <p>The source may be in use, and may be read-only. What a file is, its bytes and attributes, is of one moment; the
 * moments of two files differ. For one thread.
 */
public final class TreeClone {
    private static final String COUNTING = "files and folders found";
    private static final String CLONING = "files and folders cloned";

    /** Maximum number of entries that are listed in one call, and cloned in the order of their creation. */
    private static final int BATCH = 1024;

    /**
     * The folders on the way to the present one have some entries in memory: the fewer, the deeper they are, as the
     * quotient of this number and the depth. So any tree takes at most some 20 MiB.
     */
    private static final int MOST_NAMES = 1 << 14;

    /** Maximum depth of a tree. A path that a program can name has at most 2048 folders. */
    private static final int MOST_DEEP = 1 << 17;

    /** Maximum number of bytes by which a step grows the metadata, about: those of the entries with their names. */
    private static final long STEP_BYTES = 128 << 10;

    /** Length of a path in a message from which on its first folders are left out. */
    private static final int MAX_PATH = 1024;

    /** Owner of the staging directory, which nobody can open. */
    private static final Owner ROOT = new Owner(0, 0);

    private static final byte[] TOP = {'t', 'o', 'p'};

    private final VolumeContext context;
    private final Progress progress;
    private volatile CloneReport done = CloneReport.NOTHING;
    private long all;

    public TreeClone(VolumeContext context, Progress progress) {
        this.context = context;
        this.progress = progress;
    }

    /**
     * Clones a tree, durably.
     *
     * @param source inode number of a file, a folder or anything else that has a name
     * @param directory inode number of the folder that gets the clone; may lie in the source
     * @param name name of the clone there
     * @throws InterruptedIOException if {@code progress} stopped it; nothing of it stays
     * @throws NoSpaceException if the volume or a device is full; nothing of it stays
     * @throws PosixException of the name or the folder: EEXIST, ENOTDIR, ENAMETOOLONG, EINVAL
     * @throws IOException if something in the tree cannot be cloned, such as a file that lies on the fast tier and is
     *     open for writing; the message names it
     */
    public CloneReport run(long source, long directory, byte[] name) throws IOException {
        checkName(directory, name);
        // Small files together; what is dirty afterwards is stored file by file.
        context.writer().storeEverythingLogging();
        int type = context.nodes().with(source, node -> node.type);
        Named top = new Named(TOP, source, type);
        count(top);
        long staging = context.tree()
                .makeUnnamed(directory, Modes.DIRECTORY | 0700, ROOT)
                .inode();
        try {
            HardLinks links = new HardLinks(context, staging);
            copy(top, staging, links);
            links.removeNames();
            context.tree().rename(staging, TOP, directory, name, RenameMode.NO_REPLACE, null);
        } finally {
            context.nodes().forget(staging, 1);
        }
        context.committer().commit();
        return done;
    }

    /** Returns what is cloned until now. */
    public CloneReport report() {
        return done;
    }

    private void checkName(long directory, byte[] name) throws IOException {
        if (name.length > EntryNames.MAX_BYTES || !EntryNames.isValid(name)) {
            throw new PosixException(
                    name.length > EntryNames.MAX_BYTES ? Reason.ENAMETOOLONG : Reason.EINVAL, EntryNames.text(name));
        }
        if (context.metadata().namespace().entry(directory, name) != null) {
            throw new PosixException(Reason.EEXIST, EntryNames.text(name));
        }
    }

    /** An entry of a folder. */
    record Named(byte[] name, long inode, int type) {
        boolean isDirectory() {
            return Modes.isDirectory(type);
        }
    }

    /** A folder of the source that is being walked. */
    private static final class Folder {
        /** Null for the folder of the tree's root. */
        final @Nullable Folder parent;

        final byte[] name;
        final long source;
        /** Inode number of its clone; 0 while it is only counted. */
        final long target;

        /** Folders in it that were listed and are not walked yet. */
        final Deque<Folder> below = new ArrayDeque<>();

        long cookie;
        boolean isListed;

        Folder(@Nullable Folder parent, byte[] name, long source, long target) {
            this.parent = parent;
            this.name = name;
            this.source = source;
            this.target = target;
        }

        /** Returns the path of an entry of it, from the root of the tree. */
        String path(byte[] entry) {
            StringBuilder path = new StringBuilder(parent == null ? "" : EntryNames.text(entry));
            for (Folder at = this; at != null && at.parent != null && path.length() < MAX_PATH; at = at.parent) {
                if (at.parent.parent != null) {
                    path.insert(0, EntryNames.text(at.name) + "/");
                }
            }
            return path.toString();
        }
    }

    private void count(Named top) throws IOException {
        all = 1;
        if (top.isDirectory()) {
            walk(new Folder(null, top.name, top.inode, 0), (folder, some) -> {
                all += some.size();
                progress.at(COUNTING, all, 0);
                return some.stream()
                        .filter(Named::isDirectory)
                        .map(named -> new Folder(null, named.name, named.inode, 0))
                        .toList();
            });
        }
    }

    private void copy(Named top, long staging, HardLinks links) throws IOException {
        Visitor clones = (folder, some) -> clone(folder, some, links);
        List<Folder> first = clones.visit(new Folder(null, new byte[0], 0, staging), List.of(top));
        for (Folder folder : first) {
            walk(folder, clones);
        }
    }

    /** Receives some entries of a folder, and returns the folders among them that are to be walked. */
    @FunctionalInterface
    private interface Visitor {
        List<Folder> visit(Folder folder, List<Named> some) throws IOException;
    }

    private void walk(Folder top, Visitor visitor) throws IOException {
        Deque<Folder> way = new ArrayDeque<>();
        way.push(top);
        while (!way.isEmpty()) {
            Folder folder = way.element();
            if (!folder.below.isEmpty()) {
                way.push(folder.below.remove());
            } else if (folder.isListed) {
                way.pop();
            } else {
                if (way.size() > MOST_DEEP) {
                    throw new IOException(folder.path(folder.name) + " lies in too many folders");
                }
                int most = Math.max(1, Math.min(BATCH, MOST_NAMES / way.size()));
                folder.below.addAll(visitor.visit(folder, list(folder, most)));
            }
        }
    }

    /** Lists some entries of a folder. One that was removed meanwhile has none; of a deleted snapshot: ESTALE. */
    private List<Named> list(Folder folder, int most) throws IOException {
        List<Named> some = new ArrayList<>();
        try {
            context.listing().list(folder.source, folder.cookie, false, (name, inode, type, cookie, attributes) -> {
                if (some.size() == most) {
                    return false;
                }
                folder.cookie = cookie;
                if (!EntryNames.isSelf(name) && !EntryNames.isParent(name)) {
                    some.add(new Named(name, inode, type));
                }
                return true;
            });
        } catch (PosixException e) {
            if (e.reason() != Reason.ESTALE || SnapshotIds.isInSnapshot(folder.source)) {
                throw e;
            }
        }
        folder.isListed = some.size() < most;
        return some;
    }

    /** Clones entries of a folder, in steps. */
    private List<Folder> clone(Folder folder, List<Named> entries, HardLinks links) throws IOException {
        List<Folder> folders = new ArrayList<>();
        // The new inodes have the order of the old ones, in which files were made and are read.
        Deque<Named> left = new ArrayDeque<>(
                entries.stream().sorted(Comparator.comparingLong(Named::inode)).toList());
        while (!left.isEmpty()) {
            progress.at(CLONING, done.entries(), Math.max(all, done.entries()));
            context.committer().checkWritable();
            context.collector().admitMetadata(STEP_BYTES);
            try (CloneStep step = new CloneStep(context, folder.target, links)) {
                step(folder, left, step, folders);
            }
        }
        return folders;
    }

    private void step(Folder folder, Deque<Named> left, CloneStep step, List<Folder> folders) throws IOException {
        try {
            while (!left.isEmpty() && !step.isFull()) {
                Named at = left.remove();
                long clone = step.add(at.name, at.inode);
                if (at.isDirectory() && clone != 0) {
                    folders.add(new Folder(folder, at.name, at.inode, clone));
                }
            }
            step.put();
            step.copyLong(() -> progress.at(CLONING, done.entries(), Math.max(all, done.entries())));
            done = done.plus(step.report());
        } catch (InterruptedIOException | NoSpaceException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException(folder.path(step.at()) + ": " + e.getMessage(), e);
        }
    }
}
