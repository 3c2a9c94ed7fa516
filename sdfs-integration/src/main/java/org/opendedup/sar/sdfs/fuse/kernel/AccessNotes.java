package org.opendedup.sar.sdfs.fuse.kernel;

import org.opendedup.sar.sdfs.fuse.FuseFileSystem;

/**
 * Reports reads of files to the file system, for access times. The kernel sends no read request for bytes in its page
 * cache. Therefore an opening of a file that may be in the cache counts as a read. An opening with {@code O_NOATIME}
 * does not count.
 *
 * @param request the request that is being served
 */
record AccessNotes(FuseFileSystem operations, KernelCache cache, Request request) {
    /**
     * Notes that a file was opened. Also invalidates its attributes in the kernel if the access time changed, because
     * the kernel drops a cached access time only when it sends a read.
     *
     * @param flags as in open(2)
     * @param byKernel whether the kernel reads the file itself: no read request follows
     */
    void opened(int flags, boolean byKernel) {
        if ((flags & Protocol.O_TRUNC) != 0 || !count(flags)) {
            return;
        }
        if (byKernel ? operations.noteRead(request.node()) : operations.noteOpened(request.node())) {
            cache.invalidate(request.node());
        }
    }

    /**
     * Notes that bytes of an open file were requested.
     *
     * @param flags as in open(2)
     */
    void read(int flags) {
        if (count(flags)) {
            operations.noteRead(request.node());
        }
    }

    /**
     * Returns whether a read counts. Reads of a file that is open for writing only are made by the kernel itself, which
     * reads the rest of a page that is partly written.
     */
    private static boolean count(int flags) {
        return (flags & Protocol.O_ACCESS_MODE) != Protocol.O_WRONLY && (flags & Protocol.O_NOATIME) == 0;
    }
}
