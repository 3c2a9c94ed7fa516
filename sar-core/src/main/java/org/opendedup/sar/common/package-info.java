/**
 * The words every other package speaks: chunk ids, fingerprints, sizes and the ways an operation can fail. Depends on
 * nothing of the project.
 */
@NullMarked
package org.opendedup.sar.common;

import org.jspecify.annotations.NullMarked;
