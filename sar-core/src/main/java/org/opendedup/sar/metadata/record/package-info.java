/** Values of the metadata, and the formats of their records (docs/FORMAT.md). */
@NullMarked
package org.opendedup.sar.metadata.record;

import org.jspecify.annotations.NullMarked;
