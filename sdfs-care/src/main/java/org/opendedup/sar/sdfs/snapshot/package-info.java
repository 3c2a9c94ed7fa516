/** Snapshots of a mounted volume, as commands and the schedule make and delete them: {@link SnapshotCare}. */
@NullMarked
package org.opendedup.sar.sdfs.snapshot;

import org.jspecify.annotations.NullMarked;
