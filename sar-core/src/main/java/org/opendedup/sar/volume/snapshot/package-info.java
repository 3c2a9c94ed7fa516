/** Snapshots of a volume: making, holding and deleting them, and freeing what only deleted ones had. */
@NullMarked
package org.opendedup.sar.volume.snapshot;

import org.jspecify.annotations.NullMarked;
