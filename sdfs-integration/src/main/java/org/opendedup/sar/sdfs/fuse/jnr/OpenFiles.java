package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.HandleTable;

/** The open files by the handle that libfuse passes for each opening, and the number of openings of each inode. */
final class OpenFiles {
    private final HandleTable<OpenFile> files = new HandleTable<>();
    private final ConcurrentHashMap<Long, Integer> openings = new ConcurrentHashMap<>();

    /**
     * An opening of a file.
     *
     * @param handle handle in the file system
     * @param inode number of the inode
     * @param appends true if it was opened with O_APPEND
     * @param direct true if the kernel reads and writes it without its page cache
     */
    record OpenFile(long handle, long inode, boolean appends, boolean direct) {}

    long add(OpenFile file) throws PosixException {
        long number = files.add(file);
        openings.merge(file.inode, 1, Integer::sum);
        return number;
    }

    /** Returns a handle for an open inode without a particular opening; for {@link #inode} only. */
    static long handleOfInode(long inode) {
        return ~inode;
    }

    long inode(long number) throws PosixException {
        return number < 0 ? ~number : get(number).inode();
    }

    OpenFile get(long number) throws PosixException {
        return files.get(number);
    }

    OpenFile remove(long number) throws PosixException {
        OpenFile file = files.remove(number);
        openings.computeIfPresent(file.inode, (inode, count) -> count == 1 ? null : count - 1);
        return file;
    }

    boolean isOpen(long inode) {
        return openings.containsKey(inode);
    }
}
