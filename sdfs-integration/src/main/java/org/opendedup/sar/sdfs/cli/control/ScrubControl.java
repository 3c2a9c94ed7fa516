package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.report.ScrubReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.ScrubStatus;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/**
 * The daemon's side of {@code sdfscli VOLUME scrub}: the control command {@value #COMMAND}, whose argument
 * {@code action} selects the operation. A scrub goes on when the command that started it has ended.
 */
public final class ScrubControl extends JobActions {
    public static final String COMMAND = "scrub";

    private final Scrubs scrubs;
    private final StartTimes timer;

    public ScrubControl(Scrubs scrubs, StartTimes timer) {
        super(COMMAND);
        this.scrubs = scrubs;
        this.timer = timer;
    }

    @Override
    Map<String, Object> start(ControlArguments arguments) throws IOException {
        arguments.end();
        Optional<ScrubStatus> begun = scrubs.start(Cause.SDFSCLI);
        var reply = new LinkedHashMap<String, Object>();
        reply.put(STARTED, begun.isPresent());
        reply.putAll(ScrubReport.of(begun.or(scrubs::latest).orElseThrow(), scrubs));
        return reply;
    }

    @Override
    Map<String, Object> status(ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        return number < 0 ? ScrubReport.of(scrubs, timer) : numbered(number);
    }

    @Override
    Map<String, Object> stop(ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        if (number < 0) {
            number = scrubs.running()
                    .orElseThrow(() -> new IOException("no scrub is running"))
                    .number();
        }
        boolean unused = scrubs.stop(Cause.SDFSCLI, number);
        return numbered(number);
    }

    private Map<String, Object> numbered(long number) throws IOException {
        ScrubStatus found = scrubs.latest()
                .filter(status -> status.number() == number)
                .orElseThrow(() -> new IOException("there is no scrub number " + number + " any more"));
        return ScrubReport.of(found, scrubs);
    }

    @Override
    void set(ControlArguments arguments) throws IOException {
        PaceControl pace = PaceControl.read(arguments);
        arguments.end();
        pace.set(Cause.SDFSCLI, scrubs.pace());
    }

    @Override
    Map<String, Object> settings() {
        return ScrubReport.pace(scrubs);
    }
}
