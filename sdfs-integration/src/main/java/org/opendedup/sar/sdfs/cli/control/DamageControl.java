package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.report.DamageItems;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.volume.DamageReport;

/**
 * The daemon's side of {@code sdfscli VOLUME damaged}. The list is a job, see {@link JobControl}; when it is done, the
 * action {@value #ITEMS} returns it in pieces, since a message is bounded.
 */
public final class DamageControl implements Closeable {
    public static final String COMMAND = "damaged";
    public static final String ITEMS = "items";

    private final DamageSource source;
    private final JobControl jobs = new JobControl("list of damage");
    private volatile @Nullable DamageReport latest;

    public DamageControl(DamageSource source) {
        this.source = source;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request, ControlServer.Caller caller) throws IOException {
        var arguments = new ControlArguments(request);
        try {
            String action = arguments.text("action");
            if (action.equals(JobControl.START)) {
                arguments.end();
                return jobs.start(new StepJob(this::list, report -> {}), caller);
            }
            long number = arguments.number("number", -1);
            if (!action.equals(ITEMS)) {
                arguments.end();
                return jobs.answer(action, number);
            }
            long from = arguments.number("from", 0);
            arguments.end();
            // Fails if another list was begun since: its result takes the place of this one.
            var unused = jobs.answer(JobControl.STATUS, number);
            DamageReport report = latest;
            if (report == null) {
                throw new IOException("the list of damage is not complete");
            }
            return DamageItems.page(report, from);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void list(CheckProgress progress) throws IOException {
        latest = null;
        latest = source.list(progress);
    }

    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
