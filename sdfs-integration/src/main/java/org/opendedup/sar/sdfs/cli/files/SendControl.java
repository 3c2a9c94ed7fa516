package org.opendedup.sar.sdfs.cli.files;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Caller;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.control.WorkControl;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.volume.stream.StreamPoint;

/**
 * The daemon's side of {@code sdfscli VOLUME send}: a job, whose stream the connection of the command carries after the
 * reply to its start (docs/adr/0122).
 */
public final class SendControl implements Closeable {
    public static final String COMMAND = "send";

    private final FileTools files;
    private final WorkControl jobs;
    /** The work that was asked for last; guarded by this. */
    private @Nullable SendWork asked;

    /** @param volume name of the volume */
    public SendControl(String volume, FileTools files) {
        this.files = files;
        jobs = new WorkControl(COMMAND, new AttendedJobs<>(volume, COMMAND), false, this::work);
    }

    /** Returns what answers the command. */
    public Map<String, Handler> handlers() {
        return Map.of(COMMAND, this::answer);
    }

    private Map<String, Object> answer(Map<String, Object> request, Caller caller) throws IOException {
        return JobControl.START.equals(request.get("action")) ? start(request, caller) : jobs.answer(request, caller);
    }

    /** One at a time: another request could ask for work that is refused, because the first one runs. */
    private synchronized Map<String, Object> start(Map<String, Object> request, Caller caller) throws IOException {
        Map<String, Object> reply = jobs.answer(request, caller);
        caller.thenExchange(Objects.requireNonNull(asked)::take);
        return reply;
    }

    private synchronized SendWork work(ControlArguments arguments) throws IOException {
        String resume = arguments.textIfAny("resume");
        String snapshot = resume == null ? arguments.text("snapshot") : "";
        String since = arguments.textIfAny("since");
        boolean answers = arguments.number("answers", 0) != 0;
        arguments.end();
        asked = files.send(
                new SendWork.Request(snapshot, since, resume == null ? null : StreamPoint.parse(resume), answers));
        return asked;
    }

    /** Returns the jobs of the command. */
    public Jobs<?> jobs() {
        return jobs.jobs();
    }

    @Override
    public void close() throws IOException {
        jobs.close();
    }
}
