/**
 * Selective promotion (SAR §3.4): offers chunks that are written or read to the SSD, individually or by whole recipes,
 * at once or when the disk is idle.
 */
@NullMarked
package org.opendedup.sar.hot.promotion;

import org.jspecify.annotations.NullMarked;
