/** Repair of a damaged metadata database, and salvage of what can be read of one. */
@NullMarked
package org.opendedup.sar.metadata.repair;

import org.jspecify.annotations.NullMarked;
