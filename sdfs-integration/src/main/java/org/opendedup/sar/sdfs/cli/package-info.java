/**
 * The commands. {@link org.opendedup.sar.sdfs.cli.MkfsCommand} makes a volume;
 * {@link org.opendedup.sar.sdfs.cli.MountCommand} checks the place, starts
 * {@link org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon} in a process of its own and waits until the mount answers;
 * {@link org.opendedup.sar.sdfs.cli.SdfsCli} asks the daemon over its
 * {@link org.opendedup.sar.sdfs.cli.control.ControlServer control socket}. The daemon reaches engine and FUSE only
 * through {@link org.opendedup.sar.sdfs.cli.daemon.MountService}.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli;

import org.jspecify.annotations.NullMarked;
