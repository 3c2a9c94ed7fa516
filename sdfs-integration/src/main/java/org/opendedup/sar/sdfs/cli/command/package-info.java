/**
 * What all commands share: running a command, exit codes, text and JSON, converters of arguments, names that are safe
 * to print, progress.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.command;

import org.jspecify.annotations.NullMarked;
