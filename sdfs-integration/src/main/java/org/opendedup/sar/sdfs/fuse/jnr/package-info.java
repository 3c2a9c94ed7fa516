/**
 * The FUSE binding that uses libfuse 2 (package libfuse2) and jnr-fuse, for systems where the kernel binding cannot
 * run. libfuse communicates with the kernel and calls back by path; {@link org.opendedup.sar.sdfs.fuse.FuseOperations}
 * needs inodes.
 *
 * <p>Main types: {@link org.opendedup.sar.sdfs.fuse.jnr.JnrBinding}, the only public provider; {@code JnrMount}, the
 * mount and its threads; {@code PathResolver}, paths to inodes; {@code NameCalls}, {@code AttributeCalls},
 * {@code FileCalls} and {@code DirectoryCalls}, the callbacks; {@code UnlinkedFiles}, open files without a name.
 *
 * <p>Steps of a request: a {@code ServingThread} receives the request and passes it to libfuse. libfuse finds the path
 * of the kernel's node, locks it against renames and calls back on the same thread. The callback resolves the path by
 * lookups, calls the file system, releases its references and returns 0 or a negative error number.
 */
@NullMarked
package org.opendedup.sar.sdfs.fuse.jnr;

import org.jspecify.annotations.NullMarked;
