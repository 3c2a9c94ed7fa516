package org.opendedup.sar.sdfs.fuse.jnr;

import com.kenai.jffi.MemoryIO;
import java.io.IOException;
import java.time.Instant;
import jnr.ffi.Pointer;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.opendedup.sar.sdfs.fuse.FallocateMode;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.jnr.CallbackTable.Slot;
import org.opendedup.sar.sdfs.fuse.jnr.OpenFiles.OpenFile;
import org.opendedup.sar.volume.AttributeChange;
import org.opendedup.sar.volume.Attributes;
import org.opendedup.sar.volume.Owner;

/**
 * Callbacks on open files, by handle; they work for files without a name too.
 *
 * <p>To the kernel each name of a file is an inode of its own, with its own pages and size. So a file with several names is
 * opened past the page cache (direct_io), and its appends go to the end that the file system knows. The kernel keeps pages
 * from one opening to the next only of files that had but one name all the while.
 */
final class FileCalls {
    private final FuseOperations operations;
    private final PathResolver resolver;
    private final UnlinkedFiles unlinked;
    private final OpenFiles openFiles;
    private final LinkedInodes linked;
    private final AccessLists accessLists;
    private final Caller caller;
    private final ThreadLocal<StatBuffer> stat;
    private final Object appending = new Object();

    FileCalls(Serving serving) {
        operations = serving.operations();
        resolver = serving.resolver();
        unlinked = serving.unlinked();
        openFiles = serving.openFiles();
        linked = serving.linked();
        accessLists = serving.accessLists();
        caller = serving.caller();
        stat = serving.stat();
    }

    void register(CallbackTable table) {
        table.set(Slot.OPEN, Callbacks.OnPathWithStructure.class, this::open);
        table.set(Slot.CREATE, Callbacks.Create.class, this::create);
        table.set(Slot.READ, Callbacks.Transfer.class, this::read);
        table.set(Slot.WRITE, Callbacks.Transfer.class, this::write);
        table.set(Slot.FLUSH, Callbacks.OnHandle.class, this::flush);
        table.set(Slot.RELEASE, Callbacks.OnHandle.class, this::release);
        table.set(Slot.FSYNC, Callbacks.Sync.class, this::sync);
        table.set(Slot.FGETATTR, Callbacks.AttributesOfOpen.class, this::attributes);
        table.set(Slot.FTRUNCATE, Callbacks.TruncateOpen.class, this::truncate);
        table.set(Slot.FALLOCATE, Callbacks.Fallocate.class, this::allocate);
        table.set(Slot.IOCTL, Callbacks.Ioctl.class, (path, command, argument, file, flags, data) -> -Errno.ENOTTY);
    }

    private int open(Pointer path, Pointer info) {
        Owner owner = caller.owner();
        return Guard.run(
                "open",
                () -> resolver.onInode(CString.bytes(path), inode -> {
                    boolean direct = mustBeDirect(operations.attributes(inode));
                    long handle = operations.open(inode, FileInfo.isWritable(info), FileInfo.truncates(info), owner);
                    remember(new OpenFile(handle, inode, FileInfo.appends(info), direct), info);
                    if (!direct && !linked.mayContain(inode)) {
                        FileInfo.setKeepCache(info);
                    }
                    return 0;
                }));
    }

    /**
     * Also a file that has one name left may have been opened, with pages cached, under another that is gone. (What was
     * opened before its file got a second name still has its pages: writes through the other name may not be seen.)
     */
    private boolean mustBeDirect(Attributes attributes) {
        return attributes.links() > 1
                || (linked.mayContain(attributes.inode()) && openFiles.isOpen(attributes.inode()));
    }

    private int create(Pointer path, long mode, Pointer info) {
        Owner owner = caller.owner();
        int withType = FileMode.REGULAR | ((int) mode & FileMode.PERMISSIONS);
        return Guard.run(
                "create",
                () -> resolver.onName(CString.bytes(path), (directory, name) -> {
                    FuseOperations.CreatedFile created =
                            operations.create(directory, name, withType, FileInfo.isWritable(info), owner);
                    long inode = created.attributes().inode();
                    try {
                        remember(new OpenFile(created.handle(), inode, FileInfo.appends(info), false), info);
                    } finally {
                        // The opening retains it.
                        resolver.release(inode);
                    }
                    return 0;
                }));
    }

    private void remember(OpenFile file, Pointer info) throws IOException {
        try {
            FileInfo.setHandle(info, openFiles.add(file));
        } catch (IOException e) {
            operations.close(file.handle());
            throw e;
        }
        if (file.direct()) {
            FileInfo.setDirect(info);
        }
    }

    private int read(long path, long buffer, long size, long offset, Pointer info) {
        return Guard.run(
                "read",
                () -> operations.read(
                        openFiles.get(FileInfo.handle(info)).handle(),
                        offset,
                        MemoryIO.getInstance().newDirectByteBuffer(buffer, (int) size)));
    }

    private int write(long path, long buffer, long size, long offset, Pointer info) {
        return Guard.run("write", () -> {
            OpenFile file = openFiles.get(FileInfo.handle(info));
            var source = MemoryIO.getInstance().newDirectByteBuffer(buffer, (int) size);
            if (file.appends() && file.direct()) {
                // The kernel takes the end from what it knows of this name; the file may have grown under another.
                synchronized (appending) {
                    operations.write(
                            file.handle(), operations.attributes(file.inode()).size(), source);
                }
            } else {
                operations.write(file.handle(), offset, source);
            }
            return (int) size;
        });
    }

    private int flush(long path, Pointer info) {
        return Guard.run("flush", () -> {
            operations.flush(openFiles.get(FileInfo.handle(info)).handle());
            return 0;
        });
    }

    private int release(long path, Pointer info) {
        return Guard.run("release", () -> {
            OpenFile file = openFiles.remove(FileInfo.handle(info));
            try {
                operations.close(file.handle());
            } finally {
                if (!openFiles.isOpen(file.inode())) {
                    unlinked.removeAllOf(file.inode());
                }
            }
            return 0;
        });
    }

    private int sync(long path, int dataOnly, Pointer info) {
        return Guard.run("fsync", () -> {
            operations.sync(openFiles.get(FileInfo.handle(info)).handle());
            return 0;
        });
    }

    private int attributes(long path, Pointer target, Pointer info) {
        return Guard.run("fgetattr", () -> {
            long inode = openFiles.inode(FileInfo.handle(info));
            stat.get().copy(accessLists.shown(operations.attributes(inode)), target);
            return 0;
        });
    }

    private int truncate(long path, long size, Pointer info) {
        return Guard.run("ftruncate", () -> {
            operations.change(
                    openFiles.get(FileInfo.handle(info)).inode(), AttributeChange.ofTruncation(size, Instant.now()));
            return 0;
        });
    }

    /** The kernel has taken lost setuid bits away before, as for a write. */
    private int allocate(long path, int mode, long offset, long length, Pointer info) {
        return Guard.run("fallocate", () -> {
            FallocateMode.of(mode)
                    .apply(operations, openFiles.get(FileInfo.handle(info)).handle(), offset, length);
            return 0;
        });
    }
}
