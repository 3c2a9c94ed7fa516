/** The chunk index as plain maps on the heap: the reference model that other indexes are tested against. */
@NullMarked
package org.opendedup.sar.index.heap;

import org.jspecify.annotations.NullMarked;
