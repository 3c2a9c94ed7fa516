/**
 * The daemon's control socket: requests over it, and their effect on the mounted volume and its files.
 * {@link org.opendedup.sar.sdfs.cli.control.ControlServer} answers.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.control;

import org.jspecify.annotations.NullMarked;
