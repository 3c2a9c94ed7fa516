package org.opendedup.sar.sdfs.cli.files;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.control.WorkControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.TierReport;
import org.opendedup.sar.sdfs.jmx.TierWork;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;

/**
 * The daemon's side of {@code sdfscli VOLUME tier}: the control commands {@value #COMMAND}, whose argument
 * {@code action} selects the operation, and {@value #JOB} for those that may last, see {@link JobControl}; its argument
 * {@code kind} selects the work.
 */
public final class TierControl implements TierWork, Closeable {
    public static final String COMMAND = "tier";
    public static final String STATUS = "status";
    public static final String EXPLAIN = "explain";
    public static final String ATTACH = "attach";

    public static final String JOB = "tier-job";
    public static final String MIGRATE = "migrate";
    public static final String PIN = "pin";
    public static final String UNPIN = "unpin";
    public static final String RELOAD = "reload";

    private final TierTools tier;
    private final String location;
    private final WorkControl jobs;

    /**
     * @param volume name of the volume
     * @param location folder on the SSD; empty without one
     */
    public TierControl(String volume, TierTools tier, String location) {
        this.tier = tier;
        this.location = location;
        jobs = new WorkControl(JOB, new AttendedJobs<>(volume, JOB), false, this::work);
    }

    /** Returns what answers the commands, by their names. */
    public Map<String, Handler> handlers() {
        return Map.of(COMMAND, (request, caller) -> answer(new ControlArguments(request)), JOB, jobs::answer);
    }

    private Record answer(ControlArguments arguments) throws IOException {
        String action = arguments.text("action");
        switch (action) {
            case STATUS -> {
                arguments.end();
                return TierReport.of(null, tier.figures(), location, tier.lost());
            }
            case EXPLAIN -> {
                String path = arguments.text("path");
                arguments.end();
                TierTools.Explanation found = tier.explain(path);
                return TierReport.Explained.of(
                        found.placement().toString(),
                        found.file(),
                        tier.summary().settings());
            }
            case ATTACH -> {
                boolean makeNew = arguments.number("new", 0) != 0;
                arguments.end();
                boolean attached = tier.attach(makeNew);
                return TierReport.of(attached, tier.figures(), location, tier.lost());
            }
            default -> throw new IOException("the daemon knows no action '" + action + "' of tier");
        }
    }

    private Work<Map<String, Object>> work(ControlArguments arguments) throws IOException {
        String kind = arguments.text("kind");
        String path = arguments.text("path");
        boolean waits = arguments.number("wait", 0) != 0;
        arguments.end();
        for (Kind known : Kind.values()) {
            if (Json.word(known).equals(kind)) {
                return work(known, path, waits);
            }
        }
        throw new IOException("the daemon knows no work '" + kind + "' on raw files");
    }

    private Work<Map<String, Object>> work(Kind kind, String path, boolean waits) {
        return switch (kind) {
            case MIGRATE -> tier.migrate(path, waits);
            case PIN -> tier.pin(path, true);
            case UNPIN -> tier.pin(path, false);
            case RELOAD -> tier.reload(path, waits);
        };
    }

    /** For JMX; waits for no file that is in use. */
    @Override
    public void start(Kind kind, String path) throws IOException {
        jobs.startForJmx(work(kind, path, false));
    }

    @Override
    public boolean attach(boolean makeNew) throws IOException {
        return tier.attach(makeNew);
    }

    /** Returns the jobs on raw files. */
    public Jobs<?> jobs() {
        return jobs.jobs();
    }

    /** Stops the running job. */
    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
