package org.opendedup.sar.sdfs.fuse.kernel;

/** Reads the pending signals of a thread from {@code /proc} (proc_pid_status(5)). */
final class PendingSignals {
    private static final int SIGKILL = 9;

    private PendingSignals() {}

    /**
     * Returns whether a thread is about to be killed. Any signal that ends a process without a core dump leaves SIGKILL
     * pending for each of its threads. Returns false if the thread does not exist or is not visible.
     */
    static boolean killed(int thread) {
        // The state of an ended or hidden thread is unknown: its request is served to the end.
        return ThreadStatus.lines(thread).anyMatch(PendingSignals::saysKilled);
    }

    private static boolean saysKilled(String line) {
        if (!line.startsWith("SigPnd:") && !line.startsWith("ShdPnd:")) {
            return false;
        }
        long signals =
                Long.parseUnsignedLong(line.substring(line.indexOf(':') + 1).strip(), 16);
        return (signals >>> (SIGKILL - 1) & 1) != 0;
    }
}
