package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.volume.DamageReport;
import org.opendedup.sar.volume.NewDamageListener;
import org.opendedup.sar.volume.VolumeDamage;

/** The damage of an open volume. */
public record DamageOfVolume(VolumeDamage damage) implements DamageSource {
    @Override
    public DamageReport list(CheckProgress progress) throws IOException {
        return damage.list(progress);
    }

    @Override
    public void listen(NewDamageListener listener) {
        damage.listen(listener);
    }
}
