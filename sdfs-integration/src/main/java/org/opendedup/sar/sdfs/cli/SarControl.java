package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.tier.TierSettings;

/**
 * The daemon's side of {@code sdfscli VOLUME sar}: the control command {@value #COMMAND}, whose argument {@code action} says
 * what is to be done. Nothing here waits for a demotion; its progress is part of the status.
 */
final class SarControl {
    static final String COMMAND = "sar";

    static final String STATUS = "status";
    static final String SET = "set";
    static final String DEMOTE = "demote";
    static final String DETACH = "detach";
    static final String ATTACH = "attach";

    private final SarAdministration sar;

    SarControl(SarAdministration sar) {
        this.sar = sar;
    }

    /** @throws IOException with a message for who asked */
    Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        try {
            return answer(arguments.text("action"), arguments);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private Map<String, Object> answer(String action, ControlArguments arguments) throws IOException {
        switch (action) {
            case STATUS -> arguments.end();
            case SET -> {
                return set(arguments);
            }
            case DEMOTE -> demote(arguments);
            case DETACH -> {
                arguments.end();
                sar.detach();
            }
            case ATTACH -> {
                String location = arguments.textIfAny("location");
                arguments.end();
                sar.attach(location == null ? null : Path.of(location));
            }
            default -> throw new IOException("the daemon knows no action '" + action + "' of sar");
        }
        return SarReport.of(sar.status());
    }

    private Map<String, Object> set(ControlArguments arguments) throws IOException {
        Map<String, Object> changes = arguments.object("changes");
        arguments.end();
        TierSettings before = sar.change(changes);
        var result = new LinkedHashMap<String, Object>();
        result.put("before", SarParameters.of(before));
        result.put("after", SarParameters.of(SarParameters.change(before, changes)));
        result.put("status", SarReport.of(sar.status()));
        return result;
    }

    /** Without a number of references: everything. */
    private void demote(ControlArguments arguments) throws IOException {
        long below = arguments.number("below", Long.MAX_VALUE);
        arguments.end();
        if (below == Long.MAX_VALUE) {
            sar.demoteAll();
        } else {
            sar.demoteBelow(Math.toIntExact(Math.min(below, Integer.MAX_VALUE)));
        }
    }
}
