package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.report.JobReport;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;

/** The daemon's side of a command whose jobs end with it, and report values for JSON. */
public final class WorkControl extends JobControl<Map<String, Object>> implements Closeable {
    private final AttendedJobs<Map<String, Object>> jobs;
    private final boolean countsBytes;
    private final Maker maker;

    /** Reads the arguments of a request, and returns what it asks for. */
    @FunctionalInterface
    public interface Maker {
        /** @throws IOException if that is not allowed; the message says why */
        Work<Map<String, Object>> work(ControlArguments arguments) throws IOException;
    }

    /** @param countsBytes whether the progress of a job is in bytes, and not in steps */
    public WorkControl(String command, AttendedJobs<Map<String, Object>> jobs, boolean countsBytes, Maker maker) {
        super(command, jobs);
        this.jobs = jobs;
        this.countsBytes = countsBytes;
        this.maker = maker;
    }

    /** Returns the jobs of the command. */
    public Jobs<?> jobs() {
        return jobs;
    }

    /**
     * Starts a job that nobody attends, for JMX.
     *
     * @throws IOException if another one is running
     */
    public void startForJmx(Work<Map<String, Object>> work) throws IOException {
        if (jobs.start(Cause.JMX, work).isEmpty()) {
            throw new IOException("a " + jobs.name() + " is running already");
        }
    }

    @Override
    Optional<JobStatus<Map<String, Object>>> start(ControlArguments arguments) throws IOException {
        return jobs.start(Cause.SDFSCLI, maker.work(arguments));
    }

    @Override
    void put(JobStatus<Map<String, Object>> status, Map<String, Object> report) {
        if (countsBytes) {
            report.put("bytesDone", status.done());
            report.put("bytes", status.of());
        } else {
            JobReport.putSteps(status, report);
        }
        Map<String, Object> did = status.report();
        if (did != null) {
            report.putAll(did);
        }
    }

    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
