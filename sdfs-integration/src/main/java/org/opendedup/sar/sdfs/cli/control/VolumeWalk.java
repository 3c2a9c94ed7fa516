package org.opendedup.sar.sdfs.cli.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.EntryNames;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.Modes;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.posix.Attributes;

/**
 * Visits a file, or a folder and all files and folders below it. Follows no symbolic links. What other programs make or
 * remove meanwhile may be visited or not.
 */
final class VolumeWalk {
    /** Names that are read of a folder at once; those of all folders on the way are held in memory. */
    private static final int BATCH = 64;

    private final Volume volume;
    private final Visitor visitor;
    private final Deque<Folder> way = new ArrayDeque<>();

    /** Receives regular files and folders. */
    @FunctionalInterface
    interface Visitor {
        /** @param path path from the volume's root, for messages */
        void visit(String path, long inode, boolean isFolder) throws IOException;
    }

    /** A folder that is being visited; {@code inode} is retained but for the first one, which the caller retains. */
    private static final class Folder {
        private final String path;
        private final long inode;
        private final Deque<byte[]> names = new ArrayDeque<>();
        private long cookie;

        Folder(String path, long inode) {
            this.path = path;
            this.inode = inode;
        }
    }

    private VolumeWalk(Volume volume, Visitor visitor) {
        this.volume = volume;
        this.visitor = visitor;
    }

    /** @param inode the inode at the path, which the caller retains */
    static void visit(Volume volume, String path, long inode, Visitor visitor) throws IOException {
        new VolumeWalk(volume, visitor).run(path, inode);
    }

    private void run(String path, long inode) throws IOException {
        int mode = volume.attributes(inode).mode();
        if ((mode & Modes.TYPE) != Modes.REGULAR && !Modes.isDirectory(mode)) {
            throw new IOException(path + " is neither a file nor a folder");
        }
        visitor.visit(path, inode, Modes.isDirectory(mode));
        if (!Modes.isDirectory(mode)) {
            return;
        }
        way.push(new Folder(path, inode));
        try {
            while (!way.isEmpty()) {
                Folder folder = way.element();
                byte[] next = next(folder);
                if (next == null) {
                    leave();
                } else {
                    child(folder, next);
                }
            }
        } finally {
            while (!way.isEmpty()) {
                leave();
            }
        }
    }

    private void leave() {
        long inode = way.pop().inode;
        if (!way.isEmpty() && inode != Inode.ROOT) {
            volume.forget(inode, 1);
        }
    }

    private byte @Nullable [] next(Folder folder) throws IOException {
        if (folder.names.isEmpty()) {
            list(folder);
        }
        return folder.names.poll();
    }

    private void list(Folder folder) throws IOException {
        int[] listed = {0};
        do {
            listed[0] = 0;
            volume.list(folder.inode, folder.cookie, false, (name, inode, type, cookie, attributes) -> {
                if (listed[0] == BATCH) {
                    return false;
                }
                listed[0]++;
                folder.cookie = cookie;
                if (!EntryNames.isSelf(name) && !EntryNames.isParent(name)) {
                    folder.names.add(name);
                }
                return true;
            });
        } while (listed[0] > 0 && folder.names.isEmpty());
    }

    private void child(Folder folder, byte[] name) throws IOException {
        Attributes attributes;
        try {
            attributes = volume.lookup(folder.inode, name);
        } catch (PosixException e) {
            if (e.reason() == PosixException.Reason.ENOENT) {
                return;
            }
            throw e;
        }
        boolean isEntered = false;
        try {
            String path = (folder.path.isEmpty() ? "" : folder.path + "/") + new String(name, UTF_8);
            boolean isFolder = Modes.isDirectory(attributes.mode());
            if (isFolder || (attributes.mode() & Modes.TYPE) == Modes.REGULAR) {
                visitor.visit(path, attributes.inode(), isFolder);
            }
            if (isFolder) {
                way.push(new Folder(path, attributes.inode()));
                isEntered = true;
            }
        } finally {
            if (!isEntered) {
                volume.forget(attributes.inode(), 1);
            }
        }
    }
}
