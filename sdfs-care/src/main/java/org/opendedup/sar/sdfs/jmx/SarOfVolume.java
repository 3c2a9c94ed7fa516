package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdEvent;
import org.opendedup.sar.hot.policy.HotSettings;

/** Implements {@link SarSource} on the engine's hot chunks. */
public record SarOfVolume(HotChunks hot) implements SarSource {
    @Override
    public HotChunks.Status status() {
        return hot.status();
    }

    @Override
    public void change(HotSettings settings) throws IOException {
        hot.change(settings);
    }

    @Override
    public void demoteUpTo(int references) {
        hot.demotion().demoteUpTo(references);
    }

    @Override
    public void detach() throws IOException {
        hot.detach();
    }

    @Override
    public void attach(Path location) throws IOException {
        hot.attach(location);
    }

    @Override
    public void listen(Consumer<SsdEvent> listener) {
        hot.listen(listener);
    }
}
