/** Reference counts of chunks, and what is damaged of them. */
@NullMarked
package org.opendedup.sar.metadata.counts;

import org.jspecify.annotations.NullMarked;
