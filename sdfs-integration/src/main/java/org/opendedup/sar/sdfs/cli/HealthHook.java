package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.sdfs.cli.HealthChanges.Change;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.keys.SecretSource;

/**
 * Runs a command for each change of a volume's health, through {@code /bin/sh -c}. The command gets the change in its
 * environment, and as JSON on its input. One that does not end in time is ended, with the processes that it started.
 *
 * @param command for the shell
 * @param limit after which the command is ended
 */
record HealthHook(String volume, String command, Duration limit) {
    private static final Duration GRACE = Duration.ofSeconds(5);

    /**
     * Runs the command; returns when it has ended.
     *
     * @return what went wrong; empty if the command ended with 0
     */
    String run(Change change) throws InterruptedException {
        var builder = new ProcessBuilder("/bin/sh", "-c", command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        SecretSource.withoutSecrets(builder);
        Process process;
        try {
            builder.environment().putAll(variables(change));
            process = builder.start();
        } catch (IOException | IllegalArgumentException e) {
            // The machine may be short of memory or processes: the next change may have more luck.
            return "could not be started: " + e.getMessage();
        }
        Thread writer = new Thread(() -> write(process, change), "sdfs-watch-input");
        writer.setDaemon(true);
        writer.start();
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            end(process);
            return "did not end within " + limit.toSeconds() + " s, and was ended";
        }
        return process.exitValue() == 0 ? "" : "ended with exit code " + process.exitValue();
    }

    /** Writes in a thread of its own: a command that reads nothing must not block the watch. */
    private void write(Process process, Change change) {
        try (OutputStream input = process.getOutputStream()) {
            input.write((Json.line(report(change)) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // The command ended without reading its input.
            return;
        }
    }

    private static void end(Process process) throws InterruptedException {
        List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList();
        all.forEach(ProcessHandle::destroy);
        if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }

    private Map<String, String> variables(Change change) {
        return Map.of(
                "SDFS_VOLUME", volume,
                "SDFS_HEALTH", change.now().health(),
                "SDFS_HEALTH_BEFORE", change.before().health(),
                "SDFS_STATE", change.now().state(),
                "SDFS_FINDINGS", findings(change));
    }

    /** Returns what is wrong and what to do, one finding a line. */
    static String findings(Change change) {
        return change.now().findings().stream()
                .map(finding -> String.format(
                        "%s: %s; %s %s",
                        finding.get("severity"), finding.get("what"), finding.get("remedy"), finding.get("command")))
                .map(String::strip)
                .collect(Collectors.joining("\n"));
    }

    /** Returns a change as the command gets it on its input. */
    Map<String, Object> report(Change change) {
        var report = new LinkedHashMap<String, Object>();
        report.put("volume", volume);
        report.put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        report.put("before", change.before());
        report.put("now", change.now());
        return report;
    }
}
