package org.opendedup.sar.sdfs.join;

import java.io.IOException;
import java.time.Duration;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.LossSample;

/** What joins copies of the same content; {@link org.opendedup.sar.volume.rewrite.VolumeJoin} does it. */
public interface JoinSource {
    /** @throws IOException if no pass may run; the message says why */
    default void requireAllowed() throws IOException {}

    /**
     * Joins all that it finds.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    JoinReport join(JoinProgress progress) throws IOException;

    /**
     * Joins what it finds if that is much, and more slowly while programs use the volume.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    JoinReport joinWhatIsWorthIt(JoinProgress progress) throws IOException;

    /** Returns whether a pass is worth it that nobody asked for. */
    boolean isWorthwhile() throws IOException;

    /** Returns for how long programs have not used the volume, as seen by calls of this method. */
    Duration quiet();

    /** Returns how much is estimated to be stored more than once. */
    LossSample.Estimate estimate();
}
