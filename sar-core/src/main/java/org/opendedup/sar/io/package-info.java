/**
 * The only user of file channels, but for the logs of the metadata's database. A {@link org.opendedup.sar.io.Directory} is a place of named files with the promises
 * of a POSIX directory and no more: what was not forced may be lost, torn or reordered by a crash. The tests bring a
 * directory that does just that.
 */
@NullMarked
package org.opendedup.sar.io;

import org.jspecify.annotations.NullMarked;
