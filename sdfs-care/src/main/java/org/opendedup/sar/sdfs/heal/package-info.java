/**
 * The heals of a mounted volume that an administrator asks for. {@link org.opendedup.sar.sdfs.heal.Heals} starts, stops
 * and reports them; the volume also heals by itself.
 */
@NullMarked
package org.opendedup.sar.sdfs.heal;

import org.jspecify.annotations.NullMarked;
