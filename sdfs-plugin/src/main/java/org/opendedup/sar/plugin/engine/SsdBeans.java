package org.opendedup.sar.plugin.engine;

import java.nio.file.Path;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarOfTier;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registers the MXBeans of SAR in SDFS's process, with the names that they have in a process of mount.sdfs. */
final class SsdBeans {
    private static final Logger log = LoggerFactory.getLogger(SsdBeans.class);

    private SsdBeans() {}

    /** Returns what takes the beans off again; does nothing without an SSD, or if they cannot be registered. */
    static Runnable register(SsdTier tier, VolumeConfig config) {
        Path ssd = config.locations().ssd();
        TierSettings settings = config.tier();
        if (ssd == null || settings == null) {
            return () -> {};
        }
        Path data = config.locations().data();
        Path parent = data.getParent();
        try {
            VolumeDefinition definition = new VolumeDefinition(
                    config,
                    parent == null ? data : parent,
                    IndexClass.ROCKSDB.label(),
                    Schedule.OFF,
                    RecompressLevel.OFF,
                    0600,
                    new SarSettings(ssd, settings),
                    RestoreSettings.DEFAULT,
                    BackupSettings.DEFAULT,
                    Schedule.OFF,
                    RawSettings.NONE);
            SarAdministration administration = new SarAdministration(
                    new SarOfTier(tier),
                    definition,
                    changed -> log.info(
                            "the setting lasts until the volume is mounted again: change it on <extended-config>"
                                    + " as well"),
                    location -> {});
            VolumeRegistration registration = VolumeRegistration.registerSar(config.name(), administration);
            return registration::close;
        } catch (IllegalArgumentException | IllegalStateException e) {
            log.warn("the figures of the SSD are not in JMX: {}", e.getMessage());
            return () -> {};
        }
    }
}
