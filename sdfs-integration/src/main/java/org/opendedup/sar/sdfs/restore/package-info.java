/**
 * Restores files and folders of a mounted volume to another file system, past FUSE. {@link
 * org.opendedup.sar.sdfs.restore.TreeRestore} does it in these steps:
 *
 * <ol>
 *   <li>{@link org.opendedup.sar.sdfs.restore.TreeWalk} goes over the tree and notes each entry in the {@link
 *       org.opendedup.sar.sdfs.restore.EntryLog}; the recipes' references become {@link org.opendedup.sar.restore.Places}
 *   <li>folders, empty files and all that is no file are made at the {@link org.opendedup.sar.sdfs.restore.Destination}
 *   <li>{@link org.opendedup.sar.restore.ContainerOrderRestore} reads each container once and fills its places
 *   <li>owners, modes, extended attributes and times are set
 * </ol>
 *
 * The {@link org.opendedup.sar.sdfs.restore.RestoreJournal} says up to which container it is done, so that a restore that was ended
 * goes on there.
 */
@NullMarked
package org.opendedup.sar.sdfs.restore;

import org.jspecify.annotations.NullMarked;
