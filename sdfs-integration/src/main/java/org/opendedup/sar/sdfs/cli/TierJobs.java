package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Runs the work of a tier command on each of its paths, one after the other, and adds the results. */
final class TierJobs {
    /** Names of the kinds of work in messages. */
    private static final Map<String, String> WORDS = Map.of(
            TierControl.MIGRATE, "migration",
            TierControl.PIN, "pinning",
            TierControl.UNPIN, "unpinning",
            TierControl.RELOAD, "reload");

    /** Keys of a job's report that are not results. */
    private static final List<String> PROGRESS = List.of(
            "started",
            "number",
            "state",
            "cause",
            "began",
            "ended",
            "step",
            "stepDone",
            "stepOf",
            "stepSeconds",
            "seconds");

    private final VolumeClient cli;
    private final String kind;
    private final String words;
    private final JobClient client;

    /** @param kind the work, as {@link TierControl} names it */
    TierJobs(VolumeClient cli, String kind, boolean showProgress) {
        this.cli = cli;
        this.kind = kind;
        words = WORDS.getOrDefault(kind, kind);
        client = new JobClient(cli, TierControl.JOB, words, showProgress);
    }

    /** @throws CommandFailedException if the work on a path ended early; those before it are done */
    Map<String, Object> run(List<Path> paths, Map<String, ?> arguments)
            throws IOException, CommandFailedException, InterruptedException {
        var places = new ArrayList<String>();
        for (Path path : paths) {
            places.add(cli.pathInVolume(path));
        }
        var sum = new LinkedHashMap<String, Object>();
        for (String path : places) {
            var request = new LinkedHashMap<String, Object>(arguments);
            request.put("kind", kind);
            request.put("path", path);
            Map<String, Object> report = client.run(request);
            if (!"done".equals(report.get("state"))) {
                throw new CommandFailedException(
                        "failed".equals(report.get("state"))
                                ? "the " + words + " failed: " + report.get("error")
                                : JobClient.lastWords(words, report));
            }
            add(sum, report);
        }
        return sum;
    }

    private static void add(Map<String, Object> sum, Map<String, Object> report) {
        report.forEach((key, value) -> {
            if (PROGRESS.contains(key)) {
                return;
            }
            if (value instanceof List<?> more) {
                var all = new ArrayList<Object>(sum.get(key) instanceof List<?> before ? before : List.of());
                all.addAll(more);
                sum.put(key, all);
            } else {
                sum.put(key, Json.number(sum, key) + Json.number(report, key));
            }
        });
    }

    /** Returns the exit code for results: whether each file was worked on. */
    static int exitCode(Map<String, Object> sum) {
        long left = Json.number(sum, "failedFiles")
                + Json.number(sum, "inUseFiles")
                + Json.number(sum, "lostFiles")
                + Json.number(sum, "incompleteFiles");
        return left == 0 ? ExitCode.OK : ExitCode.FAILED;
    }
}
