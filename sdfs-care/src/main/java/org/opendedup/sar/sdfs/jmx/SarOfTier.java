package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.tier.SsdEvent;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;

/** Implements {@link SarSource} on the engine's tier. */
public record SarOfTier(SsdTier tier) implements SarSource {
    @Override
    public SsdTier.Status status() {
        return tier.status();
    }

    @Override
    public void change(TierSettings settings) throws IOException {
        tier.change(settings);
    }

    @Override
    public void demoteUpTo(int references) {
        tier.demotion().demoteUpTo(references);
    }

    @Override
    public void detach() throws IOException {
        tier.detach();
    }

    @Override
    public void attach(Path location) throws IOException {
        tier.attach(location);
    }

    @Override
    public void listen(Consumer<SsdEvent> listener) {
        tier.listen(listener);
    }
}
