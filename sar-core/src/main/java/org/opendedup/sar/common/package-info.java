/**
 * Basic types that every other package uses: chunk ids, fingerprints, sizes and the ways an operation can fail. Depends
 * on no other package of the project.
 */
@NullMarked
package org.opendedup.sar.common;

import org.jspecify.annotations.NullMarked;
