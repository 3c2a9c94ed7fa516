package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.join.Joins;

/** Exact passes and the estimate of what they would find, as values of a report and as text. */
public final class JoinText {
    /** In a report: the latest pass that was asked for; absent if there was none since the mount. */
    public static final String JOIN = "join";

    public static final String STATE = "state";
    public static final String ERROR = "error";
    public static final String JOINED_BYTES = "joinedBytes";

    private static final String FOUND_BYTES = "foundBytes";
    private static final String TWICE_BYTES = "storedTwiceBytes";
    private static final String WHOLE = "wholeVolume";
    private static final String SINCE = "since";
    private static final String ESTIMATE = "estimate";

    private JoinText() {}

    /** Adds the estimate, and the latest pass if there was one. */
    public static void put(Joins joins, Map<String, Object> report) {
        LossSample.Estimate estimate = joins.estimate();
        var estimated = new LinkedHashMap<String, Object>();
        estimated.put(TWICE_BYTES, estimate.bytes());
        estimated.put(WHOLE, estimate.isWhole());
        estimated.put(SINCE, Instant.ofEpochMilli(estimate.sinceMs()).toString());
        report.put(ESTIMATE, estimated);
        joins.latest().ifPresent(status -> {
            Map<String, Object> values = JobReport.of(status);
            put(status, values);
            report.put(JOIN, values);
        });
    }

    /** Adds the progress of a pass and, when it has ended, its result. */
    public static void put(JobStatus<JoinReport> status, Map<String, Object> values) {
        JobReport.putSteps(status, values);
        values.put("phase", status.stage());
        values.put("done", status.done());
        values.put("of", status.of());
        JoinReport report = status.report();
        if (report != null) {
            values.putAll(Json.values(report));
        }
    }

    /** Returns the lines of a report, each with a line break before it; none without an estimate. */
    public static String lines(Map<String, Object> report) {
        if (!report.containsKey(ESTIMATE)) {
            return "";
        }
        Map<String, Object> estimate = Json.object(report, ESTIMATE);
        String since = String.valueOf(estimate.get(SINCE));
        String lines = "\nduplicates  about " + ByteSize.rounded(Json.number(estimate, TWICE_BYTES))
                + " are stored more than once"
                + (Boolean.TRUE.equals(estimate.get(WHOLE))
                        ? "; all containers were compared at " + since
                        : ", of what was written since " + since);
        return report.containsKey(JOIN) ? lines + "\nexact pass  " + pass(Json.object(report, JOIN)) : lines;
    }

    private static String pass(Map<String, Object> pass) {
        String state = String.valueOf(pass.get(STATE));
        return switch (state) {
            case "running" ->
                pass.get("phase") + " " + pass.get("done") + " of " + pass.get("of")
                        + ("comparing".equals(pass.get("phase")) ? " containers" : " bytes of files");
            case "done" ->
                ByteSize.rounded(Json.number(pass, FOUND_BYTES)) + " were stored more than once; "
                        + ByteSize.rounded(Json.number(pass, JOINED_BYTES))
                        + " of these are garbage now, which 'gc' returns"
                        + (Boolean.TRUE.equals(pass.get("complete")) ? "" : "; it ended early, the next one goes on");
            case "failed" -> "failed: " + pass.get(ERROR);
            default -> state;
        };
    }
}
