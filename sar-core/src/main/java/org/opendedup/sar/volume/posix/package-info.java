/** POSIX attributes of files: owners, modes, access control lists and times. Values only. */
@NullMarked
package org.opendedup.sar.volume.posix;

import org.jspecify.annotations.NullMarked;
