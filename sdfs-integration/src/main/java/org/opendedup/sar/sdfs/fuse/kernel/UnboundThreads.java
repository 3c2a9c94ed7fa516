package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets the other threads of this process run on all its processors. A thread begins with the processors of the one that
 * started it: a pool that grows while a request is served would for ever be bound to the processor of that request.
 */
final class UnboundThreads {
    /** Room for the numbers of 8192 processors. */
    private static final int MASK_BYTES = 1024;

    private static final File THREADS = new File("/proc/self/task");

    private final Libc libc;
    private final ThreadMXBean java = ManagementFactory.getThreadMXBean();
    /** Threads that bind themselves, by number. */
    private final Set<Integer> bound = ConcurrentHashMap.newKeySet();

    private final ByteBuffer all = ByteBuffer.allocateDirect(MASK_BYTES);
    private final ByteBuffer one = ByteBuffer.allocateDirect(MASK_BYTES);
    private final Set<Integer> seen = new HashSet<>();
    private long started;

    /** The processors of this process are those of the thread that calls this. */
    UnboundThreads(Libc libc) {
        this.libc = libc;
        libc.functions().sched_getaffinity(0, MASK_BYTES, libc.address(all));
        started = java.getTotalStartedThreadCount();
    }

    /** Binds this thread to one processor. {@link #end} follows. */
    void bind(int processor) {
        bound.add(libc.functions().gettid());
        Processors.bindThread(libc, processor);
    }

    /** Lets this thread run on all processors until it is bound again. */
    void unbind() {
        libc.functions().sched_setaffinity(0, MASK_BYTES, libc.address(all));
    }

    /** Notes that this thread ends. */
    void end() {
        bound.remove(libc.functions().gettid());
    }

    /** Frees the threads that were started since the last call. For one thread. */
    void look() {
        long count = java.getTotalStartedThreadCount();
        if (count == started) {
            return;
        }
        started = count;
        String[] names = THREADS.list();
        Set<Integer> present = new HashSet<>();
        for (String name : names == null ? new String[0] : names) {
            int thread = Integer.parseInt(name);
            present.add(thread);
            if (seen.add(thread) && !bound.contains(thread)) {
                free(thread);
            }
        }
        seen.retainAll(present);
    }

    private void free(int thread) {
        one.clear();
        if (libc.functions().sched_getaffinity(thread, MASK_BYTES, libc.address(one)) == 0 && !one.equals(all)) {
            libc.functions().sched_setaffinity(thread, MASK_BYTES, libc.address(all));
        }
    }
}
