package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import jnr.ffi.Pointer;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.jnr.CallbackTable.Slot;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/** Callbacks that make, rename and remove names. */
final class NameCalls {
    private final FuseOperations operations;
    private final PathResolver resolver;
    private final UnlinkedFiles unlinked;
    private final OpenFiles openFiles;
    private final LinkedInodes linked;
    private final Caller caller;

    NameCalls(Serving serving) {
        operations = serving.operations();
        resolver = serving.resolver();
        unlinked = serving.unlinked();
        openFiles = serving.openFiles();
        linked = serving.linked();
        caller = serving.caller();
    }

    void register(CallbackTable table) {
        table.set(Slot.MKNOD, Callbacks.MakeNode.class, this::makeNode);
        table.set(Slot.MKDIR, Callbacks.OnPathWithMode.class, this::makeDirectory);
        table.set(Slot.SYMLINK, Callbacks.OnTwoPaths.class, this::makeSymbolicLink);
        table.set(Slot.LINK, Callbacks.OnTwoPaths.class, this::link);
        table.set(Slot.UNLINK, Callbacks.OnPath.class, this::unlink);
        table.set(Slot.RMDIR, Callbacks.OnPath.class, this::removeDirectory);
        table.set(Slot.RENAME, Callbacks.OnTwoPaths.class, this::rename);
        table.set(Slot.READLINK, Callbacks.FillBuffer.class, this::readSymbolicLink);
    }

    /** Makes an inode under a name and releases the reference to it. */
    private int make(String operation, Pointer path, PathResolver.NameCall<Attributes> maker) {
        return Guard.run(operation, path, () -> {
            Attributes made = resolver.onName(CString.bytes(path), maker);
            resolver.release(made.inode());
            return 0;
        });
    }

    private int makeNode(Pointer path, long mode, long device) {
        Owner owner = caller.owner();
        return make(
                "mknod",
                path,
                (directory, name) -> operations.makeNode(directory, name, (int) mode, (int) device, owner));
    }

    private int makeDirectory(Pointer path, long mode) {
        int withType = FileMode.DIRECTORY | ((int) mode & FileMode.PERMISSIONS);
        Owner owner = caller.owner();
        return make("mkdir", path, (directory, name) -> operations.makeDirectory(directory, name, withType, owner));
    }

    private int makeSymbolicLink(Pointer target, Pointer path) {
        Owner owner = caller.owner();
        return make(
                "symlink",
                path,
                (directory, name) -> operations.makeSymbolicLink(directory, name, CString.bytes(target), owner));
    }

    private int link(Pointer existing, Pointer path) {
        return Guard.run(
                "link",
                path,
                () -> resolver.onInode(CString.bytes(existing), inode -> {
                    // Added before the second name exists, so that no opening in between keeps its cache.
                    linked.add(inode);
                    resolver.onName(CString.bytes(path), (directory, name) -> operations.link(inode, directory, name));
                    resolver.release(inode);
                    return 0;
                }));
    }

    /**
     * Removes a name. On closing a file, libfuse also unlinks the hidden name that it made by rename; see
     * {@link #hide}.
     */
    private int unlink(Pointer path) {
        return Guard.run("unlink", path, () -> {
            byte[] bytes = CString.bytes(path);
            if (!caller.request().isUnlink()) {
                unlinked.remove(PathResolver.name(bytes));
                return 0;
            }
            return resolver.onName(bytes, (directory, name) -> {
                operations.unlink(directory, name);
                return 0;
            });
        });
    }

    private int removeDirectory(Pointer path) {
        return Guard.run(
                "rmdir",
                path,
                () -> resolver.onName(CString.bytes(path), (directory, name) -> {
                    operations.removeDirectory(directory, name);
                    return 0;
                }));
    }

    /** Renames. libfuse 2 has no flags: the kernel itself refuses RENAME_NOREPLACE and RENAME_EXCHANGE. */
    private int rename(Pointer from, Pointer to) {
        return Guard.run("rename", from, () -> {
            byte[] target = CString.bytes(to);
            if (!caller.request().isRenameTo(PathResolver.name(target))) {
                hide(CString.bytes(from), PathResolver.name(target));
                return 0;
            }
            return resolver.onName(
                    CString.bytes(from),
                    (directory, name) -> resolver.onName(target, (newDir, newName) -> {
                        operations.rename(directory, name, newDir, newName, RenameMode.REPLACE);
                        return 0;
                    }));
        });
    }

    /**
     * Handles libfuse's rename of an open file to a hidden name, which it makes before the file loses its name. If the
     * caller unlinks the file, the name is removed now. If the caller renames another file to the name, the file system
     * replaces it in that rename.
     */
    private void hide(byte[] path, byte[] hiddenName) throws IOException {
        long inode = resolver.retain(path);
        unlinked.add(hiddenName, inode);
        boolean done = false;
        try {
            if (caller.request().isUnlink()) {
                resolver.onName(path, (directory, name) -> {
                    operations.unlink(directory, name);
                    return 0;
                });
            }
            done = true;
        } finally {
            // If the file was closed meanwhile, the later of the two threads removes the entry.
            if (!done || !openFiles.isOpen(inode)) {
                unlinked.remove(hiddenName);
            }
        }
    }

    private int readSymbolicLink(Pointer path, Pointer buffer, long size) {
        return Guard.run("readlink", path, () -> {
            byte[] target = resolver.onInode(CString.bytes(path), inode -> {
                byte[] read = operations.readSymbolicLink(inode);
                operations.noteRead(inode);
                return read;
            });
            int length = (int) Math.min(target.length, size - 1);
            buffer.put(0, target, 0, length);
            buffer.putByte(length, (byte) 0);
            return 0;
        });
    }
}
