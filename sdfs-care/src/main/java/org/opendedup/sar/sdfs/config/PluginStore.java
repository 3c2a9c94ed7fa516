package org.opendedup.sar.sdfs.config;

import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * What commands need to know of a volume of OpenDedup SDFS whose chunks the plugin stores.
 *
 * @param volume its name in SDFS's volume file
 * @param locations where its chunks are
 * @param isEncrypted whether that file says that they are encrypted
 */
public record PluginStore(String volume, VolumeConfig.Locations locations, boolean isEncrypted) {}
