package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.report.HealText;
import org.opendedup.sar.sdfs.heal.HealStatus;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.Cause;

/**
 * The daemon's side of {@code sdfscli VOLUME heal}: the control command {@value #COMMAND}, whose argument
 * {@code action} selects the operation. A pass goes on when the command that started it has ended.
 */
public final class HealControl extends JobActions {
    public static final String COMMAND = "heal";

    private final Heals heals;

    public HealControl(Heals heals) {
        super(COMMAND);
        this.heals = heals;
    }

    @Override
    Map<String, Object> start(ControlArguments arguments) throws IOException {
        arguments.end();
        Optional<HealStatus> begun = heals.start(Cause.SDFSCLI);
        var reply = new LinkedHashMap<String, Object>();
        reply.put(STARTED, begun.isPresent());
        reply.putAll(HealText.values(begun.or(heals::latest), heals));
        return reply;
    }

    @Override
    Map<String, Object> status(ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        return number < 0 ? HealText.values(heals.latest(), heals) : numbered(number);
    }

    @Override
    Map<String, Object> stop(ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        if (number < 0) {
            number = heals.running()
                    .orElseThrow(() -> new IOException("no heal is running"))
                    .number();
        }
        boolean unused = heals.stop(Cause.SDFSCLI, number);
        return numbered(number);
    }

    private Map<String, Object> numbered(long number) throws IOException {
        Optional<HealStatus> found = heals.latest().filter(status -> status.number() == number);
        if (found.isEmpty()) {
            throw new IOException("there is no heal number " + number + " any more");
        }
        return HealText.values(found, heals);
    }

    @Override
    void set(ControlArguments arguments) throws IOException {
        throw new IOException("heals have no settings");
    }

    @Override
    Map<String, Object> settings() {
        return Map.of();
    }
}
