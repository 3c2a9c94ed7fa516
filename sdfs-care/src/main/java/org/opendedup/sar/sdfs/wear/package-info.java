/**
 * What a volume writes to its SSD, a day and in total, and how worn the SSD is:
 * {@link org.opendedup.sar.sdfs.wear.SsdWear}.
 */
@NullMarked
package org.opendedup.sar.sdfs.wear;

import org.jspecify.annotations.NullMarked;
