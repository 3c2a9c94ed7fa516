/** Open files: reads, lengths, ranges, attributes. */
@NullMarked
package org.opendedup.sar.volume.file;

import org.jspecify.annotations.NullMarked;
