/**
 * The FUSE kernel protocol ({@code linux/fuse.h}) on {@code /dev/fuse}, without libfuse. Entry point:
 * {@link org.opendedup.sar.sdfs.fuse.kernel.KernelMount}.
 *
 * <p>Mounting: a {@code Mounter} opens the device and mounts it. {@code InitHandshake} answers the kernel's INIT. Then
 * each of a few {@code Worker}s has a {@code Channel} (a clone of the device, a request buffer and a reply buffer) and
 * a {@code Dispatcher}, which reads a {@code Request}, calls {@link org.opendedup.sar.sdfs.fuse.FuseFileSystem} and
 * fills a {@code Reply}. {@code Interrupts} answers a {@code ServedRequest} in place of the worker when its caller is
 * killed. {@code KernelMount} starts and ends all of them.
 *
 * <p>{@code PassedThroughFiles} knows the open files that the kernel reads and writes itself, in files that a
 * {@code BackingDevice} registers.
 */
@NullMarked
package org.opendedup.sar.sdfs.fuse.kernel;

import org.jspecify.annotations.NullMarked;
