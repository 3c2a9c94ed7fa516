package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.report.CheckText;

/** The daemon's side of {@code sdfscli VOLUME check}, which is a job: see {@link JobControl}. */
public final class CheckControl implements Closeable {
    public static final String COMMAND = "check";

    /** Checks a volume that is in use. */
    @FunctionalInterface
    public interface Source {
        /** @throws java.io.InterruptedIOException if {@code progress} stopped it */
        StoredVolume.Report run(CheckProgress progress) throws IOException;
    }

    private final Supplier<BackgroundJob> checks;
    private final JobControl jobs = new JobControl(COMMAND);

    /** @param checks makes a check, which then runs once */
    public CheckControl(Supplier<BackgroundJob> checks) {
        this.checks = checks;
    }

    /** Returns a check of a volume that is in use. */
    public static BackgroundJob job(Source source) {
        var found = new AtomicReference<StoredVolume.@Nullable Report>();
        return new StepJob(progress -> found.set(source.run(progress)), report -> {
            StoredVolume.Report result = found.get();
            if (result != null) {
                report.put("report", CheckText.values(result));
            }
        });
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request, ControlServer.Caller caller) throws IOException {
        var arguments = new ControlArguments(request);
        String action = arguments.text("action");
        if (!action.equals(JobControl.START)) {
            return jobs.answer(action, arguments);
        }
        arguments.end();
        return jobs.start(checks.get(), caller);
    }

    /** Stops the running check. */
    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
