/**
 * The restore of many files at once in the order of the containers, each of which is read once: sorted places, then
 * batches.
 */
@NullMarked
package org.opendedup.sar.restore.bulk;

import org.jspecify.annotations.NullMarked;
