package org.opendedup.sar.sdfs.heal;

import java.io.IOException;
import org.opendedup.sar.heal.HealProgress;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.volume.care.VolumeHeal;

/** The heals of an open volume. */
public record HealOfVolume(VolumeHeal heal) implements HealSource {
    @Override
    public void requireAllowed() throws IOException {
        heal.requireAllowed();
    }

    @Override
    public HealReport run(HealProgress progress) throws IOException {
        return heal.run(progress);
    }

    @Override
    public long healedChunks() {
        return heal.healedChunks();
    }

    @Override
    public long unhealedChunks() {
        return heal.unhealedChunks();
    }
}
