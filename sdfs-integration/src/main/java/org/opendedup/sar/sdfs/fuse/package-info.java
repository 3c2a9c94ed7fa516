/**
 * The mounted file system. The package {@code kernel} communicates with the kernel and calls
 * {@link org.opendedup.sar.sdfs.fuse.FuseFileSystem}, which serves a {@link org.opendedup.sar.volume.Volume}.
 * {@link org.opendedup.sar.sdfs.fuse.ErrorNumber} converts all failures to error numbers.
 *
 * <p>Steps: {@code KernelMount.mount(new FuseFileSystem(volume, options), options)}, then
 * {@link org.opendedup.sar.sdfs.fuse.kernel.KernelMount#awaitEnd}.
 */
@NullMarked
package org.opendedup.sar.sdfs.fuse;

import org.jspecify.annotations.NullMarked;
