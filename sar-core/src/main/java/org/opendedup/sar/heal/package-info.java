/**
 * Healing: writes containers with damaged chunks anew, with the right bytes from elsewhere, under the same ids. So
 * every file that refers to them is whole again.
 *
 * <p>{@link org.opendedup.sar.heal.Healer} does a pass, {@link org.opendedup.sar.heal.ContainerHealing} heals one
 * container; {@link org.opendedup.sar.heal.Sources} finds the bytes.
 */
@NullMarked
package org.opendedup.sar.heal;

import org.jspecify.annotations.NullMarked;
