package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.sdfs.cli.command.ChangeReport;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of {@code sdfscli VOLUME set}: changes options of a mounted volume, and keeps them in the volume
 * file. Safe for use by many threads.
 */
final class OptionChanges {
    private static final Logger LOG = LoggerFactory.getLogger(OptionChanges.class);

    private final KeptSettings settings;
    private final Consumer<VolumeDefinition> check;
    private final Effect effect;

    /** Applies those options of a definition that take effect at once. */
    @FunctionalInterface
    interface Effect {
        /** @throws IOException if the first of them is refused; then nothing is changed */
        void apply(VolumeDefinition now) throws IOException;
    }

    /** @param check throws an IllegalArgumentException if the volume could not be mounted again with a definition */
    OptionChanges(KeptSettings settings, Consumer<VolumeDefinition> check, Effect effect) {
        this.settings = settings;
        this.check = check;
        this.effect = effect;
    }

    synchronized Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        Map<String, Object> changes = arguments.object(VolumeCommands.CHANGES);
        arguments.end();
        try {
            VolumeDefinition before = settings.present();
            VolumeDefinition after = before.withChanges(changes);
            check.accept(after);
            effect.apply(after);
            keep(changes, before);
            LOG.info("volume {}: set {}", after.config().name(), changes);
            return ChangeReport.of(before, after, changes.keySet());
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void keep(Map<String, Object> changes, VolumeDefinition before) throws IOException {
        try {
            settings.keep(changes);
        } catch (IOException e) {
            // Fails if files that were written meanwhile need the new capacity: that stays until the next mount then.
            Closing.after(e, () -> effect.apply(before));
            throw e;
        }
    }
}
