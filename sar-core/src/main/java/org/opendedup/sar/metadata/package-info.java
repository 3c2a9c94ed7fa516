/**
 * Namespace, recipes and reference counts: the other truth. One key-value database; changes gather in memory, visible to
 * every reader, until a commit writes them in one atomic, durable batch.
 */
@NullMarked
package org.opendedup.sar.metadata;

import org.jspecify.annotations.NullMarked;
