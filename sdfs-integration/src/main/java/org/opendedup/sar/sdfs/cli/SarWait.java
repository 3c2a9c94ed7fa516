package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.control.SarControl;

/** Waits for a sweep of the Map table to end, and shows its progress. */
final class SarWait {
    private static final long POLL_MILLIS = 250;
    private static final int BAR = 30;

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
            progress.show(bar(examined, toExamine, System.nanoTime() - startNanos, "entries"));
            Thread.sleep(POLL_MILLIS);
        }
    }

    /**
     * Returns {@code [#####.....] 50 %, 500 of 1000 entries, 12 s left}.
     *
     * @param what plural of what is examined
     */
    static String bar(long examined, long toExamine, long elapsedNanos, String what) {
        double share = toExamine <= 0 ? 0 : Math.min(1, (double) examined / toExamine);
        int filled = (int) (share * BAR);
        String left = share == 0 ? "" : ", " + (long) Math.ceil(elapsedNanos / 1e9 * (1 - share) / share) + " s left";
        return String.format(
                "[%s%s] %3.0f %%, %d of %d %s%s   ",
                "#".repeat(filled), ".".repeat(BAR - filled), share * 100, examined, toExamine, what, left);
    }
}
