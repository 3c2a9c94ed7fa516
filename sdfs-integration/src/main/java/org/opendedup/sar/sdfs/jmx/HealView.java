package org.opendedup.sar.sdfs.jmx;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.heal.HealStatus;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.volume.DamageReport.Fault;

/** Implements {@link HealMXBean} on {@link Heals}. */
final class HealView implements HealMXBean {
    private final Heals heals;
    private final DamageList damage;

    HealView(Heals heals, DamageList damage) {
        this.heals = heals;
        this.damage = damage;
    }

    @Override
    public boolean isRunning() {
        return heals.running().isPresent();
    }

    @Override
    public long getDamagedChunks() {
        return heals.unhealedChunks();
    }

    @Override
    public long getHealedChunks() {
        return heals.healedChunks();
    }

    @Override
    public String getLastState() {
        return heals.latest()
                .map(HealStatus::state)
                .filter(state -> state != JobState.RUNNING)
                .map(JobState::toString)
                .orElse("");
    }

    @Override
    public String getLastEnded() {
        return heals.latest()
                .map(HealStatus::ended)
                .map(ended -> ended.truncatedTo(ChronoUnit.SECONDS))
                .map(Instant::toString)
                .orElse("");
    }

    @Override
    public long getLastHealedChunks() {
        return heals.latest().map(status -> status.report().healedChunks()).orElse(0L);
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

    @Override
    public void start() {
        if (Beans.call(() -> heals.start(Cause.JMX)).isEmpty()) {
            throw new IllegalStateException("a pass of healing is running already");
        }
    }

    @Override
    public void stop() {
        heals.running().ifPresent(running -> heals.stop(Cause.JMX, running.number()));
    }
}
