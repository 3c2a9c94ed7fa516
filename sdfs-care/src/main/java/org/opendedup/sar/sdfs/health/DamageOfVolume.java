package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.volume.care.DamageFound;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.NewDamageListener;
import org.opendedup.sar.volume.care.VolumeDamage;

/**
 * The damage of an open volume.
 *
 * @param gone runs when no damage is left
 */
public record DamageOfVolume(VolumeDamage damage, Runnable gone) implements DamageSource {
    @Override
    public DamageReport list(Progress progress) throws IOException {
        return damage.list(progress);
    }

    @Override
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
