/** Demotion (SAR §3.5): decides which copies are removed from a full SSD. */
@NullMarked
package org.opendedup.sar.hot.demotion;

import org.jspecify.annotations.NullMarked;
