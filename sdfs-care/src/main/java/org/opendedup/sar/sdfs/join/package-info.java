/**
 * The exact passes of a mounted volume that an administrator asks for. {@link org.opendedup.sar.sdfs.join.Joins}
 * starts, stops and reports them.
 */
@NullMarked
package org.opendedup.sar.sdfs.join;

import org.jspecify.annotations.NullMarked;
