package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.volume.care.DamageFound;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.NewDamageListener;
import org.opendedup.sar.volume.care.VolumeDamage;

/** The damage of a mounted volume. */
public class DamageSource {
    private final VolumeDamage damage;
    private final Runnable gone;

    /** @param gone runs when no damage is left */
    public DamageSource(VolumeDamage damage, Runnable gone) {
        this.damage = damage;
        this.gone = gone;
    }

    /**
     * Lists the files with damaged bytes, while the volume is in use.
     *
     * @param progress called for each inode; may end the list with an {@link java.io.InterruptedIOException}
     */
    public DamageReport list(Progress progress) throws IOException {
        return damage.list(progress);
    }

    /** Sets the listener for new damage, and for its end; replaces the previous one. */
    public void listen(NewDamageListener listener) {
        damage.listen(new NewDamageListener() {
            @Override
            public void found(DamageFound found) {
                listener.found(found);
            }

            @Override
            public void gone() {
                gone.run();
                listener.gone();
            }
        });
    }
}
