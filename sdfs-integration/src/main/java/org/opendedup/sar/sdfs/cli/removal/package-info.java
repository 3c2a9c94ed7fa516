/**
 * Removes a volume with all its files. {@link org.opendedup.sar.sdfs.config.OwnFiles} knows by their names which files
 * are the volume's; {@link org.opendedup.sar.sdfs.cli.removal.VolumeRemoval} removes them in an order that can be
 * interrupted at any point, and finished later.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.removal;

import org.jspecify.annotations.NullMarked;
