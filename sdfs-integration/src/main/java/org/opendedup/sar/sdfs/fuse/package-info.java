/**
 * The mounted file system. A {@link org.opendedup.sar.sdfs.fuse.FuseBinding} speaks with the kernel and calls {@link
 * org.opendedup.sar.sdfs.fuse.FuseOperations}; {@link org.opendedup.sar.sdfs.fuse.FuseFileSystem} answers these from a
 * {@link org.opendedup.sar.volume.Volume}. {@link org.opendedup.sar.sdfs.fuse.Errno} is the one place where a failure
 * becomes an error number.
 *
 * <p>Steps: {@code FuseBindings.named("kernel").mount(new FuseFileSystem(volume), MountOptions.of(...))}, then {@link
 * org.opendedup.sar.sdfs.fuse.FuseMount#awaitEnd}.
 */
@NullMarked
package org.opendedup.sar.sdfs.fuse;

import org.jspecify.annotations.NullMarked;
