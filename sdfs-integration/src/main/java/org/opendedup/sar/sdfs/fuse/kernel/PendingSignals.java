package org.opendedup.sar.sdfs.fuse.kernel;

/** Signals that wait for a thread, as {@code /proc} tells them (proc_pid_status(5)). */
final class PendingSignals {
    private static final int SIGKILL = 9;

    private PendingSignals() {}

    /**
     * Whether a thread is about to be killed. Whichever signal ends a process without a core dump, each of its threads finds
     * SIGKILL waiting. False for a thread that is not there or not to be seen.
     */
    static boolean killed(int thread) {
        // Of one that is gone or hidden nobody can tell: the request is served to its end.
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
