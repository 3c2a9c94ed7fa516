package org.opendedup.sar.join;

import java.io.IOException;
import java.time.Duration;
import org.opendedup.sar.common.Progress;

/** What joins copies of the same content; {@link org.opendedup.sar.volume.rewrite.VolumeJoin} does it. */
public interface JoinSource {
    /** Stage of the progress: reads the directories of the containers; the unit is a container. */
    String COMPARING = "comparing";
    /** Stage of the progress: reads recipes and replaces references; the unit is a byte of the files. */
    String JOINING = "joining";

    /** @throws IOException if no pass may run; the message says why */
    default void requireAllowed() throws IOException {}

    /**
     * Joins what it finds within the limits.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    JoinReport run(JoinLimits limits, Progress progress) throws IOException;

    /**
     * Joins as {@link #run}, but more slowly while programs use the volume.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    JoinReport runGivingWay(JoinLimits limits, Progress progress) throws IOException;

    /** Returns whether a pass is worth it that nobody asked for. */
    boolean isWorthwhile() throws IOException;

    /** Returns for how long programs have not used the volume, as seen by calls of this method. */
    Duration quiet();

    /** Returns how much is estimated to be stored more than once. */
    LossSample.Estimate estimate();
}
