package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.cli.report.HealText;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/** The daemon's side of {@code sdfscli VOLUME heal}. A pass goes on when the command that started it has ended. */
public final class HealControl extends JobControl<HealReport> {
    public static final String COMMAND = "heal";

    private final Heals heals;

    public HealControl(Heals heals) {
        super(COMMAND, heals);
        this.heals = heals;
    }

    @Override
    Optional<JobStatus<HealReport>> start(ControlArguments arguments) throws IOException {
        arguments.end();
        return heals.start(Cause.SDFSCLI);
    }

    @Override
    void put(JobStatus<HealReport> status, Map<String, Object> report) {
        HealText.put(status, heals, report);
    }

    @Override
    Map<String, Object> all() throws IOException {
        Optional<JobStatus<HealReport>> latest = heals.latest();
        return latest.isPresent() ? numbered(latest.get().number()) : HealText.none(heals);
    }
}
