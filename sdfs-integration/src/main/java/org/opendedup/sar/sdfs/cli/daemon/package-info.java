/**
 * The process that serves one mounted volume, from its start to its last report.
 * {@link org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon} is its main part; it reaches engine and FUSE only through
 * {@link org.opendedup.sar.sdfs.cli.daemon.MountService}.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.daemon;

import org.jspecify.annotations.NullMarked;
