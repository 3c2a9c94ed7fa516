/**
 * Requests over the daemon's control socket about files of the mounted volume, and the work that they start: restores,
 * defragmentation, and what the fast tier stores.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.files;

import org.jspecify.annotations.NullMarked;
