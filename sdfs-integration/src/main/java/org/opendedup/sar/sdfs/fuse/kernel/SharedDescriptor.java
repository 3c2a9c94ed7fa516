package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import org.opendedup.sar.io.Libc;

/**
 * An open descriptor of the FUSE device. One thread uses and closes it; other threads use it through
 * {@link #whileOpen}, because the kernel may give the number of a closed descriptor to another file.
 */
final class SharedDescriptor implements Closeable {
    /** Copies a descriptor, as fcntl(2) says. */
    private static final int F_DUPFD_CLOEXEC = 1030;

    private final Libc libc;
    private final int number;
    /** Lock: held while another thread uses the descriptor, and while it is closed. */
    private final Object lifetime = new Object();

    private boolean closed;

    /** Takes ownership of the descriptor. */
    SharedDescriptor(Libc libc, int number) {
        this.libc = libc;
        this.number = number;
    }

    /** Returns its number. For the thread that closes it. */
    int number() {
        return number;
    }

    /** An action of another thread with the descriptor. */
    @FunctionalInterface
    interface Use {
        void with(int fd);
    }

    /** Runs {@code use} unless the descriptor is closed, and keeps it open meanwhile. One thread at a time. */
    void whileOpen(Use use) {
        synchronized (lifetime) {
            if (!closed) {
                use.with(number);
            }
        }
    }

    /**
     * Runs {@code use} with a copy, unless the descriptor is closed or cannot be copied. For what may take long: others
     * use the descriptor meanwhile, and may close it.
     *
     * @return whether it was run
     */
    boolean withCopy(Use use) {
        int[] copy = {-1};
        whileOpen(fd -> copy[0] = libc.functions().fcntl(fd, F_DUPFD_CLOEXEC, 0L));
        if (copy[0] < 0) {
            return false;
        }
        try {
            use.with(copy[0]);
            return true;
        } finally {
            libc.functions().close(copy[0]);
        }
    }

    @Override
    public void close() {
        synchronized (lifetime) {
            closed = true;
            libc.functions().close(number);
        }
    }
}
