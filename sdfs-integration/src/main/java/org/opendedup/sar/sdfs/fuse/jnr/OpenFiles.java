package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.HandleTable;

/** The files that are open, by the number that libfuse has for each opening, and how often each inode is. */
final class OpenFiles {
    private final HandleTable<OpenFile> files = new HandleTable<>();
    private final ConcurrentHashMap<Long, Integer> openings = new ConcurrentHashMap<>();

    /**
     * An opening.
     *
     * @param handle the file system's
     * @param appends whether it was opened with O_APPEND
     * @param direct whether the kernel reads and writes it without its page cache
     */
    record OpenFile(long handle, long inode, boolean appends, boolean direct) {}

    long add(OpenFile file) throws PosixException {
        long number = files.add(file);
        openings.merge(file.inode, 1, Integer::sum);
        return number;
    }

    /** A number that stands for an inode that is open, whichever its openings; for {@link #inode} only. */
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
