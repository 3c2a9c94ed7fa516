/** Which files differ between two snapshots, or a snapshot and the present. */
@NullMarked
package org.opendedup.sar.volume.diff;

import org.jspecify.annotations.NullMarked;
