package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdEvent;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Administration Interface of the SAR paper (§3.2) for a mounted volume. Commands and JMX change settings only
 * through this class, so that each change is also stored in the volume file. Safe for use by many threads.
 */
public final class SarAdministration {
    private static final Logger LOG = LoggerFactory.getLogger(SarAdministration.class);

    private final SarSource source;
    private final SettingsKeeper keeper;
    private final LocationCheck check;

    private final String volume;
    /** Guarded by this. */
    private SarSettings settings;

    /** The interface through which a user requests a change, for the log. */
    public enum Way {
        SDFSCLI("sdfscli"),
        JMX("JMX");

        private final String text;

        Way(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** Stores settings for the next mount. */
    @FunctionalInterface
    public interface SettingsKeeper {
        /** @throws IOException if they cannot be stored; the old settings then stay stored */
        void keep(SarSettings settings) throws IOException;
    }

    /** Checks a folder before it is used for the SSD. */
    @FunctionalInterface
    public interface LocationCheck {
        /**
         * @throws IllegalArgumentException if the path is not absolute, or lies in another location of the volume
         * @throws IOException if the folder cannot be used; the message says why
         */
        void check(Path location) throws IOException;
    }

    /**
     * @param volume name of the volume
     * @param settings those that the volume was mounted with
     */
    public SarAdministration(
            String volume, SarSource source, SarSettings settings, SettingsKeeper keeper, LocationCheck check) {
        this.volume = volume;
        this.source = source;
        this.settings = settings;
        this.keeper = keeper;
        this.check = check;
    }

    public HotChunks.Status status() {
        return source.status();
    }

    /**
     * Changes some parameters, now and for later mounts. Chunks that no longer qualify are demoted in the background.
     * Logs one line for each parameter whose value changes.
     *
     * @param changes new values by the names of {@link SarSettings#parameters}
     * @return the settings before the change
     * @throws IllegalArgumentException if a name or value is not allowed; the message names what is allowed. Nothing is
     *     changed then
     * @throws IOException if the settings cannot be applied, or cannot be stored; the message says which
     */
    public synchronized HotSettings change(Way way, Map<String, ?> changes) throws IOException {
        SarSettings before = settings;
        SarSettings changed = before.with(changes);
        source.change(changed.hot());
        logChanges(way, before.hot(), changed.hot());
        keep(changed);
        return before.hot();
    }

    private void logChanges(Way way, HotSettings before, HotSettings after) {
        Map<String, Object> old = SarSettings.parameters(before);
        SarSettings.parameters(after).forEach((name, value) -> {
            Object former = old.get(name);
            if (former != null && !value.equals(former)) {
                log(way, "{} changed from {} to {}", name, former, value);
            }
        });
    }

    /** Logs an action, with the name of the volume and the interface in front. */
    private void log(Way way, String done, Object... values) {
        LOG.info("volume " + volume + ", by " + way + ": " + done, values);
    }

    /**
     * Demotes all chunks with fewer than {@code references} references, in the background; returns at once.
     *
     * @throws IllegalArgumentException if {@code references} is less than 1
     * @throws IOException if there is no SSD to demote from
     */
    public synchronized void demoteBelow(Way way, int references) throws IOException {
        if (references < 1) {
            throw new IllegalArgumentException(
                    "the number of references is " + references + "; it must be from 1 to " + Integer.MAX_VALUE);
        }
        requireSsd();
        log(way, "demoting all with fewer references than {}", references);
        source.demoteUpTo(references - 1);
    }

    /**
     * Demotes all chunks, in the background; returns at once.
     *
     * @throws IOException if there is no SSD to demote from
     */
    public synchronized void demoteAll(Way way) throws IOException {
        requireSsd();
        log(way, "demoting all");
        source.demoteUpTo(Integer.MAX_VALUE);
    }

    private void requireSsd() throws IOException {
        SsdState state = source.status().state();
        if (state == SsdState.NONE) {
            throw new IOException(SarSettings.NO_SSD);
        } else if (state == SsdState.DETACHED || state == SsdState.FAILED) {
            throw new IOException("the SSD is " + state.name().toLowerCase(Locale.ROOT)
                    + ", and has no copies to demote; use it again: sdfscli VOLUME sar attach");
        }
    }

    /** Stops using the SSD until it is attached or the volume is mounted again. */
    public synchronized void detach(Way way) throws IOException {
        source.detach();
        log(way, "SSD detached");
    }

    /**
     * Starts to use an SSD.
     *
     * @param location an absolute path; null for the folder in the volume file
     * @throws IllegalArgumentException if the path is not absolute, or lies in another location of the volume
     * @throws IOException if the SSD cannot be used, or its location cannot be stored in the volume file; the message
     *     says which
     */
    public synchronized void attach(Way way, @Nullable Path location) throws IOException {
        Path configured = settings.ssdLocation();
        if (configured == null) {
            // The SSD's copies get their memory only at mount time.
            throw new IOException(SarSettings.NO_SSD);
        }
        SarSettings changed = location == null ? settings : settings.withLocation(location);
        Path taken = location == null ? configured : location;
        check.check(taken);
        source.attach(taken);
        if (taken.equals(configured)) {
            log(way, "SSD attached at {}", taken);
        } else {
            log(way, "SSD attached; its location changed from {} to {}", configured, taken);
        }
        if (!changed.equals(settings)) {
            keep(changed);
        }
    }

    private void keep(SarSettings changed) throws IOException {
        settings = changed;
        try {
            keeper.keep(changed);
        } catch (IOException e) {
            throw new IOException("changed until the volume is unmounted, but not kept: " + e.getMessage(), e);
        }
    }

    /** Sets the listener for events; replaces the previous one. */
    void listen(Consumer<SsdEvent> listener) {
        source.listen(listener);
    }

    /** As {@link #change}, for one parameter and for JMX, whose clients may pass null for a text. */
    void set(VolumeOption<?> parameter, @Nullable Object value) {
        Beans.call(() -> change(Way.JMX, Collections.singletonMap(parameter.key(), value)));
    }
}
