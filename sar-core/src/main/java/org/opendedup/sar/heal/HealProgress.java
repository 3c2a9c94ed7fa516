package org.opendedup.sar.heal;

/** Hears how far a pass is. */
@FunctionalInterface
public interface HealProgress {
    /**
     * A container was examined.
     *
     * @return whether to go on
     */
    boolean examined(HealReport soFar);
}
