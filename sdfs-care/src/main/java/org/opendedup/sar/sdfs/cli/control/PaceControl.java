package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.PaceSetting;

/**
 * The arguments with which a command sets the pace of jobs.
 *
 * @param paused 0 or 1; negative if it stays
 * @param bytesPerSecond 0 for no bound; negative if it stays
 */
public record PaceControl(long paused, long bytesPerSecond) {
    public static final String PAUSED = "paused";
    public static final String BYTES_PER_SECOND = "bytesPerSecond";

    static PaceControl read(ControlArguments arguments) throws IOException {
        return new PaceControl(arguments.number(PAUSED, -1), arguments.number(BYTES_PER_SECOND, -1));
    }

    void set(Cause cause, PaceSetting pace) {
        if (bytesPerSecond >= 0) {
            pace.setBytesPerSecond(cause, bytesPerSecond);
        }
        if (paused >= 0) {
            pace.setPaused(cause, paused != 0);
        }
    }
}
