package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.TierSettings;

/**
 * The Administration Interface of the SAR paper (§3.2) for a mounted volume: the one way on which commands and JMX change
 * anything, so that what is changed is also kept in the volume file. Safe for use by many threads.
 */
public final class SarAdministration {
    private final SarSource source;
    private final SettingsKeeper keeper;
    private final LocationCheck check;

    /** Guarded by this. */
    private VolumeDefinition definition;

    /** Keeps settings for the next mount. */
    @FunctionalInterface
    public interface SettingsKeeper {
        /** @throws IOException if they cannot be kept; the old ones then stand */
        void keep(SarSettings settings) throws IOException;
    }

    /** Looks at a folder before it is taken for the SSD's. */
    @FunctionalInterface
    public interface LocationCheck {
        /** @throws IOException saying why it cannot be */
        void check(Path location) throws IOException;
    }

    /** @param definition what the volume was mounted with */
    public SarAdministration(
            SarSource source, VolumeDefinition definition, SettingsKeeper keeper, LocationCheck check) {
        this.source = source;
        this.definition = definition;
        this.keeper = keeper;
        this.check = check;
    }

    public SsdTier.Status status() {
        return source.status();
    }

    /**
     * Changes some parameters, now and for later mounts. Demotion of what no longer qualifies goes on in the background.
     *
     * @param changes by the names of {@link SarParameters}
     * @return the settings before
     * @throws IllegalArgumentException naming what is wrong and what is allowed; nothing is changed then
     * @throws IOException if they cannot be set, or not be kept; says which
     */
    public synchronized TierSettings change(Map<String, ?> changes) throws IOException {
        SarSettings before = definition.sar();
        VolumeDefinition changed = definition.withSar(before.withTier(SarParameters.change(before.tier(), changes)));
        source.change(changed.sar().tier());
        keep(changed);
        return before.tier();
    }

    /**
     * Demotes everything with fewer references than that, in the background; returns at once.
     *
     * @throws IllegalArgumentException unless it is greater than 0
     */
    public void demoteBelow(int references) {
        if (references < 1) {
            throw new IllegalArgumentException(
                    "the number of references is " + references + "; it must be greater than 0");
        }
        source.demoteUpTo(references - 1);
    }

    /** Demotes everything, in the background; returns at once. */
    public void demoteAll() {
        source.demoteUpTo(Integer.MAX_VALUE);
    }

    /** Stops using the SSD, until it is attached or the volume is mounted again. */
    public synchronized void detach() throws IOException {
        source.detach();
    }

    /**
     * Takes an SSD into use.
     *
     * @param location an absolute path; null: the folder that the volume file names
     * @throws IllegalArgumentException if it is not absolute, or lies in another location of the volume
     * @throws IOException if it can't be used, or not be kept in the volume file; says which
     */
    public synchronized void attach(@Nullable Path location) throws IOException {
        Path configured = definition.sar().ssdLocation();
        if (configured == null) {
            // Only mounting gives the tier its memory.
            throw new IOException(
                    "the volume was mounted without an SSD location: unmount it, attach the SSD, mount it, and attach it again");
        }
        VolumeDefinition changed = location == null
                ? definition
                : definition.withSar(definition.sar().withLocation(location));
        Path taken = location == null ? configured : location;
        check.check(taken);
        source.attach(taken);
        if (!changed.equals(definition)) {
            keep(changed);
        }
    }

    private void keep(VolumeDefinition changed) throws IOException {
        definition = changed;
        try {
            keeper.keep(changed.sar());
        } catch (IOException e) {
            throw new IOException("changed until the volume is unmounted, but not kept: " + e.getMessage(), e);
        }
    }

    /** Sets who hears of events; one at a time. */
    void listen(Consumer<SsdTier.Event> listener) {
        source.listen(listener);
    }

    /** As {@link #change}, of one parameter, for JMX. */
    void set(String parameter, Object value) {
        run(() -> change(Map.of(parameter, value)));
    }

    /** For JMX, whose clients get an exception with its causes only if it is unchecked. */
    void run(Change change) {
        try {
            change.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /** Something that may fail for the SSD's or the volume file's sake. */
    @FunctionalInterface
    interface Change {
        void run() throws IOException;
    }
}
