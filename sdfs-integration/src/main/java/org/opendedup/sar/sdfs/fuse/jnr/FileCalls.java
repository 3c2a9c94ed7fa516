package org.opendedup.sar.sdfs.fuse.jnr;

import com.kenai.jffi.MemoryIO;
import java.io.IOException;
import jnr.ffi.Pointer;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.opendedup.sar.sdfs.fuse.FallocateMode;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.jnr.CallbackTable.Slot;
import org.opendedup.sar.sdfs.fuse.jnr.OpenFiles.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Callbacks for open files, by handle. They also work for files without a name.
 *
 * <p>The kernel treats each name of a file as an inode of its own, with its own pages and size. Therefore a file with
 * several names is opened without the page cache (direct_io), and appends go to the end that the file system knows. The
 * kernel keeps pages from one opening to the next only for files that had a single name the whole time.
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
                path,
                () -> resolver.onInode(CString.bytes(path), inode -> {
                    boolean direct = mustBeDirect(operations.attributes(inode));
                    long handle = operations.open(inode, FileInfo.isWritable(info), FileInfo.truncates(info), owner);
                    remember(new OpenFile(handle, inode, FileInfo.appends(info), direct), info);
                    if (FileInfo.notesReads(info) && !FileInfo.truncates(info)) {
                        // Inode numbers are known here only during a call, so the contents of the kernel's cache are
                        // unknown: the opening counts as a read.
                        operations.noteRead(inode);
                    }
                    if (!direct && !linked.mayContain(inode)) {
                        FileInfo.setKeepCache(info);
                    }
                    return 0;
                }));
    }

    /**
     * Returns whether the file must be opened without the page cache. A file with one name left may have been opened,
     * with cached pages, under a removed name. (A file that was opened before it got a second name still has its pages:
     * writes through the other name may not be visible there.)
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
                path,
                () -> resolver.onName(CString.bytes(path), (directory, name) -> {
                    FuseOperations.CreatedFile created =
                            operations.create(directory, name, withType, FileInfo.isWritable(info), owner);
                    long inode = created.attributes().inode();
                    try {
                        remember(new OpenFile(created.handle(), inode, FileInfo.appends(info), false), info);
                    } finally {
                        // The open handle retains the inode.
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

    /** Returns the name of an open file for the log: libfuse passes no paths with open files. */
    private String named(Pointer info) {
        try {
            return operations.nameOf(openFiles.inode(FileInfo.handle(info)));
        } catch (PosixException closed) {
            return "a file that is not open";
        }
    }

    private int read(long path, long buffer, long size, long offset, Pointer info) {
        return Guard.run("read", () -> named(info), () -> {
            OpenFile file = openFiles.get(FileInfo.handle(info));
            int count = operations.read(
                    file.handle(), offset, MemoryIO.getInstance().newDirectByteBuffer(buffer, (int) size));
            if (FileInfo.notesReads(info)) {
                operations.noteRead(file.inode());
            }
            return count;
        });
    }

    private int write(long path, long buffer, long size, long offset, Pointer info) {
        return Guard.run("write", () -> named(info), () -> {
            OpenFile file = openFiles.get(FileInfo.handle(info));
            var source = MemoryIO.getInstance().newDirectByteBuffer(buffer, (int) size);
            if (file.appends() && file.direct()) {
                // The kernel appends at the end that it knows for this name; the file may have grown under another
                // name.
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
        return Guard.run("flush", () -> named(info), () -> {
            operations.flush(openFiles.get(FileInfo.handle(info)).handle());
            return 0;
        });
    }

    private int release(long path, Pointer info) {
        return Guard.run("release", () -> named(info), () -> {
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
        return Guard.run("fsync", () -> named(info), () -> {
            operations.sync(openFiles.get(FileInfo.handle(info)).handle());
            return 0;
        });
    }

    private int attributes(long path, Pointer target, Pointer info) {
        return Guard.run("fgetattr", () -> named(info), () -> {
            long inode = openFiles.inode(FileInfo.handle(info));
            stat.get().copy(accessLists.shown(operations.attributes(inode)), target);
            return 0;
        });
    }

    private int truncate(long path, long size, Pointer info) {
        return Guard.run("ftruncate", () -> named(info), () -> {
            operations.change(
                    openFiles.get(FileInfo.handle(info)).inode(),
                    AttributeChange.ofTruncation(size, KernelClock.machine().instant()));
            return 0;
        });
    }

    /** Allocates or zeroes a range. The kernel has already removed setuid bits, as for a write. */
    private int allocate(long path, int mode, long offset, long length, Pointer info) {
        return Guard.run("fallocate", () -> named(info), () -> {
            FallocateMode.of(mode)
                    .apply(operations, openFiles.get(FileInfo.handle(info)).handle(), offset, length);
            return 0;
        });
    }
}
