/**
 * Open files and folders, and names in them: what a path leads to may change between two calls, what is open does not.
 * For folders that other users may reach, where a restore or a copy of the metadata is written or read.
 */
@NullMarked
package org.opendedup.sar.io.handle;

import org.jspecify.annotations.NullMarked;
