package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdEvent;
import org.opendedup.sar.hot.policy.HotSettings;

/** The SSD of a mounted volume, as administration uses it; {@link HotChunks} has these methods. */
public interface SarSource {
    HotChunks.Status status();

    /** Changes the settings. Chunks that no longer qualify are demoted in the background. */
    void change(HotSettings settings) throws IOException;

    /** Demotes all chunks with at most {@code references} references, in the background. */
    void demoteUpTo(int references);

    void detach() throws IOException;

    void attach(Path location) throws IOException;

    /** Sets the listener for events; replaces the previous one. */
    void listen(Consumer<SsdEvent> listener);
}
