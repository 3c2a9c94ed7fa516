/**
 * Commits of a volume: the lock of all changes, turns of durable commits, and the stop of changes after a failed write.
 */
@NullMarked
package org.opendedup.sar.volume.commit;

import org.jspecify.annotations.NullMarked;
