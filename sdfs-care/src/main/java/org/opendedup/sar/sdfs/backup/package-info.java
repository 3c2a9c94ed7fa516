/** Automatic backups of a mounted volume's metadata: when one is made. */
@NullMarked
package org.opendedup.sar.sdfs.backup;

import org.jspecify.annotations.NullMarked;
