/** What all parts of it share: listeners, sources of counts, refusals, the SSD's health and its share of bytes. */
@NullMarked
package org.opendedup.sar.hot.copies;

import org.jspecify.annotations.NullMarked;
