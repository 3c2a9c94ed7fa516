/**
 * The FUSE kernel protocol ({@code linux/fuse.h}), spoken on {@code /dev/fuse} without libfuse. {@link
 * org.opendedup.sar.sdfs.fuse.kernel.KernelBinding} is the way in.
 *
 * <p>Mounting: a {@code Mounter} opens the device and mounts it; {@code InitHandshake} answers the kernel's INIT; each of a
 * few {@code Worker}s then has a {@code Channel} (a clone of the device, a request and a reply buffer) and a {@code
 * Dispatcher}, which reads a {@code Request}, calls {@link org.opendedup.sar.sdfs.fuse.FuseOperations} and fills a {@code
 * Reply}. {@code Interrupts} answers a {@code ServedRequest} in a worker's place when its caller is killed. {@code KernelMount}
 * starts and ends all of it.
 */
@NullMarked
package org.opendedup.sar.sdfs.fuse.kernel;

import org.jspecify.annotations.NullMarked;
