/**
 * The read path. {@link org.opendedup.sar.restore.RestoreEngine} follows a file's recipe: what is in memory is copied, the
 * rest is read from the containers in disk order, and ahead of a sequential reader.
 */
@NullMarked
package org.opendedup.sar.restore;

import org.jspecify.annotations.NullMarked;
