/**
 * Backups of a volume's metadata, and what brings a volume back whose metadata are lost or damaged: restoring a backup,
 * salvaging what is readable. Restoring and salvaging are for a volume that is not in use.
 */
@NullMarked
package org.opendedup.sar.volume.backup;

import org.jspecify.annotations.NullMarked;
