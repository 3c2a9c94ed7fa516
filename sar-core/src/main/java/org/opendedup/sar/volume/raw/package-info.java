/** Files of the fast tier (TDDFS paper, §3.2): stored whole, copied into chunks, migrated. */
@NullMarked
package org.opendedup.sar.volume.raw;

import org.jspecify.annotations.NullMarked;
