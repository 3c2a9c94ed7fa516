package org.opendedup.sar.volume.care;

/** Notified of damage by a thread in the background. */
public interface NewDamageListener {
    /** New damage was found. */
    void found(DamageFound damage);

    /** No damage is left. */
    void gone();
}
