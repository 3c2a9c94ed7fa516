package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;

/** Waits for a sweep of the Map table to end, showing how far it is. */
final class SarWait {
    private static final long POLL_MILLIS = 250;
    private static final int BAR = 30;

    private SarWait() {}

    /**
     * Shows the progress on the error stream, so that the output stays what was asked for. May be interrupted without harm:
     * the sweep goes on.
     *
     * @return the status when none is under way any more
     */
    static Map<String, Object> forSweep(SarCommand sar)
            throws IOException, CommandFailedException, InterruptedException {
        PrintWriter err = sar.cli().environment().err();
        long startNanos = System.nanoTime();
        boolean shown = false;
        while (true) {
            Map<String, Object> status = sar.ask(SarControl.STATUS, Map.of());
            Map<String, Object> demotion = Json.object(status, "demotion");
            if (!Boolean.TRUE.equals(demotion.get("running"))) {
                if (shown) {
                    err.println();
                }
                return status;
            }
            long examined = ((Number) demotion.getOrDefault("examined", 0)).longValue();
            long toExamine = ((Number) demotion.getOrDefault("toExamine", 0)).longValue();
            err.print("\r" + bar(examined, toExamine, System.nanoTime() - startNanos));
            err.flush();
            shown = true;
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** {@code [#####.....]  50 %, 500 of 1000 entries, 12 s left}. */
    static String bar(long examined, long toExamine, long elapsedNanos) {
        double share = toExamine <= 0 ? 0 : Math.min(1, (double) examined / toExamine);
        int filled = (int) (share * BAR);
        String left = share == 0 ? "" : ", " + (long) Math.ceil(elapsedNanos / 1e9 * (1 - share) / share) + " s left";
        return String.format(
                "[%s%s] %3.0f %%, %d of %d entries%s   ",
                "#".repeat(filled), ".".repeat(BAR - filled), share * 100, examined, toExamine, left);
    }
}
