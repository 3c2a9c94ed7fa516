package org.opendedup.sar.scrub;

import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.record.ScrubRecord;

/** What scrubs a volume; {@link org.opendedup.sar.volume.care.VolumeScrub} does it. */
public interface ScrubSource {
    /** @throws IOException if no scrub may run; the message says why */
    default void requireAllowed() throws IOException {}

    /**
     * Continues a scrub that was stopped, or begins a new one.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    ScrubRecord run(ScrubProgress progress) throws IOException;

    /** Records that the scrub that was stopped does not go on by itself. */
    void hold() throws IOException;

    /** Returns the scrub that was begun last; null if there was none. */
    @Nullable
    ScrubRecord current() throws IOException;

    /** Returns the scrub that was completed last; null if there was none. */
    @Nullable
    ScrubRecord last() throws IOException;

    /** Returns the pace of all scrubs of this mount. */
    Pace pace();

    /** Returns when the volume was made. */
    Instant volumeMade();
}
