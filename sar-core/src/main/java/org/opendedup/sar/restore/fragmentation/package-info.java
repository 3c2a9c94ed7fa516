/** How far the chunks of a file are scattered over containers, and what that costs when the file is read. */
@NullMarked
package org.opendedup.sar.restore.fragmentation;

import org.jspecify.annotations.NullMarked;
