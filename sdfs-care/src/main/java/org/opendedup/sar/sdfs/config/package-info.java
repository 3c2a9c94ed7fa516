/**
 * The settings of a volume: {@link org.opendedup.sar.sdfs.config.VolumeDefinition} in memory,
 * {@link org.opendedup.sar.sdfs.config.VolumeFile} as the SDFS volume XML,
 * {@link org.opendedup.sar.sdfs.config.ConfigDirectory} as the folder of these files.
 */
@NullMarked
package org.opendedup.sar.sdfs.config;

import org.jspecify.annotations.NullMarked;
