/**
 * The near-exact chunk index of SiLo (Xia et al., IEEE TC 2015): memory holds one entry a segment, and a few blocks of
 * contiguous segments.
 */
@NullMarked
package org.opendedup.sar.index.silo;

import org.jspecify.annotations.NullMarked;
