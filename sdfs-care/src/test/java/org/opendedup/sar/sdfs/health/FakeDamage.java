package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.NewDamageListener;

/** Damage that a test makes up. */
public final class FakeDamage extends DamageSource {
    public DamageReport report = new DamageReport(List.of(), List.of(), 0, 0, 0);

    public FakeDamage() {
        super(null, null);
    }

    @Override
    public DamageReport list(Progress progress) throws IOException {
        progress.at("damaged files", 1, 1);
        return report;
    }

    @Override
    public void listen(NewDamageListener listener) {}
}
