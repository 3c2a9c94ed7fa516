package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.List;
import java.util.function.LongConsumer;
import org.opendedup.sar.sdfs.fuse.FuseOperations;

/**
 * What the threads that serve requests over io_uring share.
 *
 * @param device descriptor of the FUSE device
 * @param backings the open files that the kernel reads and writes itself
 * @param data serves requests that move data
 * @param processors keeps other threads from being bound to a processor
 * @param interrupts receives the number of each request whose caller got a signal
 * @param served the request of each thread that may be abandoned; threads add and remove theirs
 * @param listener notified of threads that begin and end
 */
record RingService(
        Libc libc,
        int device,
        RingMemory memory,
        FuseOperations operations,
        Agreement agreement,
        LateSyncs syncs,
        BackingFiles backings,
        DataThreads data,
        UnboundThreads processors,
        LongConsumer interrupts,
        List<ServedRequest> served,
        Listener listener) {

    /** Notified of threads that begin and end. */
    interface Listener {
        /** A thread will be started. {@link #ended} follows. */
        void starts();

        /** @param failed true if the thread ended although the file system is still mounted */
        void ended(boolean failed);
    }
}
