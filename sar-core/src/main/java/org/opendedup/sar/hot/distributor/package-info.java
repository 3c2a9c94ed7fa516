/**
 * The data distributor (SAR §3.2, §3.6): reads each chunk from memory, the SSD or its container, and bypasses an SSD
 * that answers late.
 */
@NullMarked
package org.opendedup.sar.hot.distributor;

import org.jspecify.annotations.NullMarked;
