package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/**
 * The number of threads that serve requests over io_uring on this machine. Each has an entry in one of the kernel's
 * queues, of which there is one for each processor that can come.
 *
 * @param processors processors of the machine
 * @param perProcessor threads for each processor that is there
 * @param dataThreads number of requests that may move data at the same time
 * @param reserved threads of each processor that never wait for other requests of the kernel
 */
record RingPlan(Processors processors, int perProcessor, int dataThreads, int reserved) {
    /**
     * Threads on all processors together. A program that waits for a commit keeps a thread waiting; 64 such programs on
     * one of two processors still leave half of its threads to others.
     */
    private static final int TOGETHER = 256;

    /** Fewest threads for a processor that is there. */
    private static final int LEAST = 16;

    /** Threads for a processor that can come: one may wait for requests that the other one serves. */
    private static final int ABSENT = 2;

    private static final int MOST_ENTRIES = 1024;

    /** Native memory of a thread besides its cell, in bytes: stack and io_uring, as measured on Linux 6.18. */
    private static final long THREAD_BYTES = 96 << 10;

    private static final Path SWITCH = Path.of("/sys/module/fuse/parameters/enable_uring");

    /** Plans for a mount. */
    @FunctionalInterface
    interface Source {
        /** @throws IOException if requests cannot come over io_uring; its message says why */
        RingPlan of(MountOptions options) throws IOException;
    }

    /** Plans for this machine. */
    static RingPlan of(Processors processors, int threads) {
        int online = Math.max(1, processors.online().cardinality());
        int together = Math.max(TOGETHER, threads);
        return new RingPlan(processors, Math.max(LEAST, (together + online - 1) / online), threads, 1);
    }

    /** Plans for a mount on this machine, as {@link Source#of}. */
    static RingPlan of(MountOptions options) throws IOException {
        if (!options.ioUring()) {
            throw new IOException("the mount option noio_uring is given");
        }
        if (!Files.isReadable(SWITCH)) {
            throw new IOException("this kernel's FUSE does not know io_uring (Linux 6.14 does)");
        }
        if (!Files.readString(SWITCH).strip().equals("Y")) {
            throw new IOException(SWITCH + " is not Y");
        }
        RingPlan plan = of(Processors.ofMachine(), options.threads());
        BitSet possible = plan.processors.possible();
        if (possible.length() != possible.cardinality()) {
            throw new IOException("the numbers of the processors have gaps");
        }
        if (plan.entries() > MOST_ENTRIES) {
            throw new IOException(plan.entries() + " threads would be needed, " + MOST_ENTRIES + " are allowed");
        }
        return plan;
    }

    /** Returns the number of threads for one processor. */
    int threadsOf(int processor) {
        return processors.online().get(processor) ? perProcessor : ABSENT;
    }

    /** Returns the number of the kernel's queues. */
    int queues() {
        return processors.possible().cardinality();
    }

    /** Returns the number of threads, which is that of their entries. */
    int entries() {
        int sum = 0;
        for (int i = 0; i < queues(); i++) {
            sum += threadsOf(i);
        }
        return sum;
    }

    /**
     * Returns the number of requests that the kernel keeps in flight for read-ahead and write-back. Each has an entry
     * from then on, although only half of them are served at the same time.
     */
    int maxBackground() {
        return 2 * dataThreads;
    }

    /**
     * Returns the number of entries that may keep the memory of the largest payload for a while: the requests that the
     * kernel keeps in flight, of two programs on different processors.
     */
    int largeEntries() {
        return Math.min(2 * maxBackground(), entries());
    }

    /** Returns the native memory that the threads and their entries keep, in bytes. */
    long bufferBytes() {
        long large = largeEntries();
        long cells = large * RingMemory.CELL_BYTES + (entries() - large) * RingMemory.SMALL_CELL_BYTES;
        return cells + entries() * THREAD_BYTES;
    }
}
