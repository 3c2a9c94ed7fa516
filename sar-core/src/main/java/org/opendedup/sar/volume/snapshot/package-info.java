/**
 * Snapshots of a volume: making, holding and deleting them, freeing what only deleted ones had, and asking for a
 * rollback.
 */
@NullMarked
package org.opendedup.sar.volume.snapshot;

import org.jspecify.annotations.NullMarked;
