/** What the whole tier shares: listeners, sources of counts, refusals, the SSD's health and its share of bytes. */
@NullMarked
package org.opendedup.sar.tier.copies;

import org.jspecify.annotations.NullMarked;
