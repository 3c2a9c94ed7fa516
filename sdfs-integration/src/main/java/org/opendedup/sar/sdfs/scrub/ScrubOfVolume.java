package org.opendedup.sar.sdfs.scrub;

import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.scrub.ScrubProgress;
import org.opendedup.sar.volume.care.VolumeScrub;

/** The scrub of an open volume. */
public record ScrubOfVolume(VolumeScrub scrub) implements ScrubSource {
    @Override
    public void requireAllowed() throws IOException {
        scrub.requireAllowed();
    }

    @Override
    public ScrubRecord run(ScrubProgress progress) throws IOException {
        return scrub.run(progress);
    }

    @Override
    public void hold() throws IOException {
        scrub.hold();
    }

    @Override
    public @Nullable ScrubRecord current() throws IOException {
        return scrub.current();
    }

    @Override
    public @Nullable ScrubRecord last() throws IOException {
        return scrub.last();
    }

    @Override
    public Pace pace() {
        return scrub.pace();
    }

    @Override
    public Instant volumeMade() {
        return scrub.volumeMade();
    }
}
