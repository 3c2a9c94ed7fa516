/**
 * Restores files and folders of a mounted volume to another file system, without FUSE.
 * {@link org.opendedup.sar.sdfs.restore.TreeRestore} does it in these steps:
 *
 * <ol>
 *   <li>{@link org.opendedup.sar.sdfs.restore.TreeWalk} walks the tree and records each entry in the
 *       {@link org.opendedup.sar.sdfs.restore.EntryLog}; the recipes' references become
 *       {@link org.opendedup.sar.restore.bulk.Places}
 *   <li>folders, empty files and all other entries are made at the {@link org.opendedup.sar.sdfs.restore.Destination}
 *   <li>{@link org.opendedup.sar.restore.bulk.ContainerOrderRestore} reads each container once and fills its places
 *   <li>owners, modes, extended attributes and times are set
 * </ol>
 *
 * The {@link org.opendedup.sar.sdfs.restore.RestoreJournal} records up to which container it is done, so that an
 * interrupted restore continues there.
 */
@NullMarked
package org.opendedup.sar.sdfs.restore;

import org.jspecify.annotations.NullMarked;
