package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.TierSettings;

/** The SSD of a mounted volume, as administration sees it; {@link SsdTier} has these methods. */
public interface SarSource {
    SsdTier.Status status();

    /** Changes the settings; what no longer qualifies is demoted in the background. */
    void change(TierSettings settings) throws IOException;

    /** Demotes everything of that many references or fewer, in the background. */
    void demoteUpTo(int references);

    void detach() throws IOException;

    void attach(Path location) throws IOException;

    /** Sets who hears of events; one at a time. */
    void listen(Consumer<SsdTier.Event> listener);
}
