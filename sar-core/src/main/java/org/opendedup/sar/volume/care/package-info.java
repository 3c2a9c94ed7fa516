/** Scrub, heal and check of a mounted volume, and what is known of its damage. */
@NullMarked
package org.opendedup.sar.volume.care;

import org.jspecify.annotations.NullMarked;
