package org.opendedup.sar.sdfs.join;

import java.io.IOException;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.LossSample;

/** What joins copies of the same content; {@link org.opendedup.sar.volume.VolumeJoin} does it. */
public interface JoinSource {
    /**
     * Joins all that it finds.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    JoinReport join(JoinProgress progress) throws IOException;

    /** Returns how much is estimated to be stored more than once. */
    LossSample.Estimate estimate();
}
