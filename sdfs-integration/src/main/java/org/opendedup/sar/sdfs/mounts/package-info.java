/** Reads the mount table. Commands, front ends and the restore use this package; it depends on none of them. */
@NullMarked
package org.opendedup.sar.sdfs.mounts;

import org.jspecify.annotations.NullMarked;
