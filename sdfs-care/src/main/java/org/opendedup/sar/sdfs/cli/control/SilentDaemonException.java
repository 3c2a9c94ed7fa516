package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a volume's daemon runs and does not answer in time. */
public final class SilentDaemonException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * @param socket the daemon's control socket
     * @param seconds the time that it had
     */
    public SilentDaemonException(Path socket, long seconds) {
        super("the daemon does not answer within " + seconds + " s on " + socket
                + "; it may wait for a disk that does not answer: see the kernel's log and that of the volume");
    }
}
