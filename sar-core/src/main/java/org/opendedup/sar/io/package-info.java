/**
 * The only package that uses file channels, except for the logs of the metadata's database. A
 * {@link org.opendedup.sar.io.Directory} is a store of named files with the guarantees of a POSIX directory and no
 * more: a crash may lose, tear or reorder anything that was not forced. The tests use a directory that does this.
 */
@NullMarked
package org.opendedup.sar.io;

import org.jspecify.annotations.NullMarked;
