package org.opendedup.sar.sdfs.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.control.PaceControl;
import org.opendedup.sar.sdfs.cli.report.GcText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that set the pace of jobs in the daemon. {@link PaceControl} reads them there. */
final class PaceOptions {
    /** Largest rate, in MB/s. */
    private static final long RATE_MAX = PaceSetting.BYTES_PER_SECOND_MAX / 1_000_000;

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec spec;

    @Option(
            names = "--rate",
            paramLabel = "MB_PER_S",
            description = "Bound on what is read and written, in MB/s (10^6 bytes a second); 0: no bound.")
    @Nullable
    Double rate;

    @Option(
            names = "--paused",
            arity = "1",
            paramLabel = "true|false",
            description = "Pause after the container at hand, or continue.")
    @Nullable
    Boolean paused;

    /** Returns the arguments of the control command; empty if none was given. */
    Map<String, Object> changes() {
        var changes = new LinkedHashMap<String, Object>();
        if (rate != null) {
            long bytes = Math.round(rate * 1e6);
            if (!(rate >= 0 && rate <= RATE_MAX) || (bytes == 0 && rate > 0)) {
                throw new ParameterException(
                        Objects.requireNonNull(spec).commandLine(),
                        "a rate is from 0.000001 to " + RATE_MAX + " MB/s, or 0 for no bound");
            }
            changes.put(PaceControl.BYTES_PER_SECOND, bytes);
        }
        if (paused != null) {
            changes.put(PaceControl.PAUSED, paused ? 1 : 0);
        }
        return changes;
    }

    /** Returns in words what the reply to the control command says. */
    static String changed(Map<String, Object> reply) {
        String text = GcText.changes(Json.object(reply, "before"), Json.object(reply, "after"));
        return text.isEmpty() ? "Nothing changed: the pace is this already." : text;
    }
}
