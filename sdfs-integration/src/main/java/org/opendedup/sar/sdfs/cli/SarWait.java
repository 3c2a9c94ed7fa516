package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Waits for a sweep of the Map table to end, and shows its progress. */
final class SarWait {
    private static final long POLL_MILLIS = 250;

    private SarWait() {}

    /**
     * Shows the progress on the error stream, so that the output stream has only the result. An interruption does no
     * harm: the sweep continues.
     *
     * @return the status when no sweep is running any more
     */
    static Map<String, Object> forSweep(SarCommand sar)
            throws IOException, CommandFailedException, InterruptedException {
        var progress = new ProgressLine(sar.cli().environment());
        long startNanos = System.nanoTime();
        while (true) {
            Map<String, Object> status = sar.ask(SarControl.STATUS, Map.of());
            Map<String, Object> demotion = Json.object(status, "demotion");
            if (!Boolean.TRUE.equals(demotion.get("running"))) {
                progress.clear();
                return status;
            }
            long examined = ((Number) demotion.getOrDefault("examined", 0)).longValue();
            long toExamine = ((Number) demotion.getOrDefault("toExamine", 0)).longValue();
            progress.show(ProgressLine.step("entries", examined, toExamine, (System.nanoTime() - startNanos) / 1e9));
            Thread.sleep(POLL_MILLIS);
        }
    }
}
