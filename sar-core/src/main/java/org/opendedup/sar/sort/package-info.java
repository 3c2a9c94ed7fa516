/** Sorting of more data than memory holds, with scratch files. */
@NullMarked
package org.opendedup.sar.sort;

import org.jspecify.annotations.NullMarked;
