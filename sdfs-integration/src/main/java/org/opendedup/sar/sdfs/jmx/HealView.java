package org.opendedup.sar.sdfs.jmx;

import java.util.List;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.volume.care.DamageReport.Fault;

/** Implements {@link HealMXBean} on {@link Heals}. */
final class HealView extends JobView<HealReport> implements HealMXBean {
    private final Heals heals;
    private final DamageList damage;

    HealView(Heals heals, DamageList damage) {
        super(heals, heals::start);
        this.heals = heals;
        this.damage = damage;
    }

    @Override
    public long getDamagedChunks() {
        return heals.unhealedChunks();
    }

    @Override
    public long getHealedChunks() {
        return heals.healedChunks();
    }

    /** So far, while a pass is running. */
    @Override
    public long getLastHealedChunks() {
        return heals.latest()
                .map(JobStatus::report)
                .map(HealReport::healedChunks)
                .orElse(0L);
    }

    @Override
    public List<String> listDamage() {
        return Beans.call(() -> damage.list().stream().map(HealView::line).toList());
    }

    private static String line(Fault fault) {
        String place = fault.pack().isEmpty()
                ? "container " + fault.container() + ", slots " + fault.firstSlot() + " to " + (fault.endSlot() - 1)
                : "pack " + fault.pack();
        return place + ": " + Printable.line(fault.note().reason());
    }
}
