/** Changes that are not committed yet, over the database, and the table of containers. */
@NullMarked
package org.opendedup.sar.metadata.pending;

import org.jspecify.annotations.NullMarked;
