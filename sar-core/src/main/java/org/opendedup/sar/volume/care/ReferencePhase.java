package org.opendedup.sar.volume.care;

import java.io.IOException;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.scrub.ScrubProgress;

/** The part of a scrub that compares the references of a volume's files with what is stored. */
@FunctionalInterface
public interface ReferencePhase {
    /** Of a volume of chunks: its client has the references, and nothing is compared. */
    ReferencePhase OF_CLIENT = (pace, progress, restBytes, before) -> before;

    /**
     * Compares all references.
     *
     * @param restBytes bytes that later parts of the scrub verify
     * @param before what the scrub has verified
     * @return what was verified, {@code before} included
     * @throws java.io.InterruptedIOException if the progress stopped it
     */
    ScrubTotals run(Pace pace, ScrubProgress progress, long restBytes, ScrubTotals before) throws IOException;
}
