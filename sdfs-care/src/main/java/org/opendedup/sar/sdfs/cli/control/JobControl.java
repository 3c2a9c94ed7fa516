package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;

/**
 * The daemon's side of a command for jobs: its argument {@code action} selects the operation. A command starts a job,
 * queries it by its number, and stops it.
 *
 * @param <R> what a job reports
 */
public abstract class JobControl<R> {
    public static final String START = "start";
    public static final String STATUS = "status";
    public static final String STOP = "stop";
    /** Changes settings of the jobs. */
    public static final String SET = "set";
    /** In the reply to {@link #START}: false if another job was running; the rest of the reply is about it. */
    public static final String STARTED = "started";

    private final String command;
    private final Jobs<R> jobs;

    /** @param command name of the control command */
    protected JobControl(String command, Jobs<R> jobs) {
        this.command = command;
        this.jobs = jobs;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public final Map<String, Object> answer(Map<String, Object> request, ControlServer.Caller caller)
            throws IOException {
        var arguments = new ControlArguments(request);
        try {
            String action = arguments.text("action");
            return switch (action) {
                case START -> started(start(arguments), caller);
                case SET -> changed(arguments);
                case STATUS, STOP -> {
                    long number = arguments.number("number", -1);
                    arguments.end();
                    yield action.equals(STOP) ? stop(number) : number < 0 ? all() : numbered(number);
                }
                default -> other(action, arguments);
            };
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** @param begun empty if another one was running */
    private Map<String, Object> started(Optional<JobStatus<R>> begun, ControlServer.Caller caller) throws IOException {
        if (jobs.isAttended()) {
            long number = begun.orElseThrow(() ->
                            new IOException("a " + jobs.name() + " is running already; only one can run at a time"))
                    .number();
            caller.whenGone(() -> jobs.left(number));
        }
        var reply = new LinkedHashMap<String, Object>();
        reply.put(STARTED, begun.isPresent());
        reply.putAll(report(begun.or(jobs::latest).orElseThrow()));
        return reply;
    }

    /** Stops the job with a number; if that is negative, the running one. */
    Map<String, Object> stop(long number) throws IOException {
        long which = number < 0
                ? jobs.running()
                        .orElseThrow(() -> new IOException("no " + jobs.name() + " is running"))
                        .number()
                : number;
        boolean unused = jobs.stop(Cause.SDFSCLI, which);
        return numbered(which);
    }

    final Map<String, Object> numbered(long number) throws IOException {
        jobs.asked(number);
        return report(jobs.numbered(number)
                .orElseThrow(() -> new IOException("there is no " + jobs.name() + " number " + number + " any more")));
    }

    private Map<String, Object> report(JobStatus<R> status) {
        Map<String, Object> report = Json.values(JobReport.of(status));
        put(status, report);
        return report;
    }

    private Map<String, Object> changed(ControlArguments arguments) throws IOException {
        var result = new LinkedHashMap<String, Object>();
        result.put("before", settings());
        set(arguments);
        result.put("after", settings());
        return result;
    }

    /**
     * Starts a job.
     *
     * @return empty if another one is running
     */
    abstract Optional<JobStatus<R>> start(ControlArguments arguments) throws IOException;

    /** Adds to the report of a job what {@link JobReport#of} does not have. */
    abstract void put(JobStatus<R> status, Map<String, Object> report);

    /** Returns what is known of all jobs. */
    Map<String, Object> all() throws IOException {
        return numbered(-1);
    }

    /** Answers an action that not all kinds have. */
    Map<String, Object> other(String action, ControlArguments arguments) throws IOException {
        throw new IOException("the daemon knows no action '" + action + "' of " + command);
    }

    /** Changes settings. */
    void set(ControlArguments arguments) throws IOException {
        throw new IOException("a " + jobs.name() + " has no settings");
    }

    /** Returns the settings that {@link #set} changes. */
    Map<String, Object> settings() {
        return Map.of();
    }
}
