package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Libc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the processors of the machine from sleeping while requests flow. A processor without work enters an idle state,
 * and a request to a thread on it first wakes it: 50 to 250 µs on a virtual machine, where a halted processor must be
 * scheduled again by the host. Each request and its answer wake one thread each.
 *
 * <p>A file descriptor of {@code /dev/cpu_dma_latency} into which a 32-bit 0 was written asks the kernel for a wake-up
 * time of 0 µs on all processors ({@code Documentation/power/pm_qos_interface.rst} of Linux): an idle processor then
 * polls. The request holds until the descriptor is closed, also by the end of the process.
 *
 * <p>Without the device or the permission (root's), nothing happens. Safe for use by many threads.
 */
final class ProcessorLatency implements Closeable {
    static final Path DEVICE = Path.of("/dev/cpu_dma_latency");

    /** The number of microseconds, in the machine's byte order. */
    private static final int NUMBER_BYTES = 4;

    private static final Logger LOG = LoggerFactory.getLogger(ProcessorLatency.class);

    private static final int CLOSED = -1;

    private final Libc libc;
    /** Null: never used, or not any more. */
    private @Nullable Path device;

    private int held = CLOSED;

    /** @param device null to do nothing */
    ProcessorLatency(Libc libc, @Nullable Path device) {
        this.libc = libc;
        this.device = device;
    }

    /** Begins to keep the processors awake. No effect if they are kept awake already. */
    synchronized void hold() {
        Path unheld = device;
        if (held != CLOSED || unheld == null) {
            return;
        }
        try {
            held = opened(unheld);
        } catch (IOException e) {
            LOG.info("processors may sleep between requests, which then take longer: {}", e.toString());
            device = null;
        }
    }

    private int opened(Path unheld) throws IOException {
        int fd = libc.open(unheld, Protocol.O_WRONLY);
        if (fd < 0) {
            throw libc.failure("opening " + unheld);
        }
        ByteBuffer zero = ByteBuffer.allocateDirect(NUMBER_BYTES);
        if (libc.functions().write(fd, Libc.address(zero), NUMBER_BYTES) != NUMBER_BYTES) {
            IOException failure = libc.failure("writing to " + unheld);
            libc.functions().close(fd);
            throw failure;
        }
        Reference.reachabilityFence(zero);
        return fd;
    }

    /** Lets the processors sleep. */
    synchronized void release() {
        if (held != CLOSED) {
            libc.functions().close(held);
            held = CLOSED;
        }
    }

    synchronized boolean isHeld() {
        return held != CLOSED;
    }

    /** Lets the processors sleep from now on. */
    @Override
    public synchronized void close() {
        device = null;
        release();
    }
}
