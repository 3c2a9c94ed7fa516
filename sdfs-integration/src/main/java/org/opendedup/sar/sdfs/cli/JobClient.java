package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.OnInterrupt;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.control.BackupControl;
import org.opendedup.sar.sdfs.cli.control.CheckControl;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.control.SnapshotDiffControl;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.RoughTime;

/**
 * The client side of {@link JobControl}: starts a job, shows its progress on the error stream, and stops it when the
 * command is interrupted.
 */
final class JobClient {
    private static final long POLL_MILLIS = 200;
    /** Number of polls for the end of a job; together longer than a job runs between two points where it can stop. */
    private static final int STOP_POLLS = 300;

    /** The kinds of jobs of which nothing is kept when they are stopped. */
    private static final Set<String> STARTING_ANEW = Set.of(
            CheckControl.COMMAND,
            DamagedCommand.JOB,
            BackupControl.COMMAND,
            FileControl.CLONE,
            SendCommand.STREAM,
            SnapshotDiffControl.JOB);

    /** The phase of a job that looks for its files. */
    private static final String WALKING = "walking";

    private final VolumeClient cli;
    private final String command;
    private final String kind;
    private final boolean showProgress;
    private final ProgressLine progress;

    JobClient(VolumeClient cli, String command, boolean showProgress) {
        this(cli, command, command, showProgress);
    }

    /**
     * @param command name of the control command
     * @param kind name of the job in messages
     */
    JobClient(VolumeClient cli, String command, String kind, boolean showProgress) {
        this.cli = cli;
        this.command = command;
        this.kind = kind;
        this.showProgress = showProgress;
        this.progress = new ProgressLine(cli.environment());
    }

    /** Starts a job and waits for its end; returns its last report. */
    Map<String, Object> run(Map<String, ?> arguments) throws IOException, CommandFailedException, InterruptedException {
        var start = new LinkedHashMap<String, Object>(arguments);
        start.put("action", JobControl.START);
        // Stays open to the end: from the open connection the daemon knows that the command still exists, even
        // suspended.
        try (ControlSocket.Held held = cli.hold(command, start)) {
            return follow(held.result(), true);
        }
    }

    /** Prints what a job found. */
    @FunctionalInterface
    interface Printer {
        /** @return whether the reply has anything to print */
        boolean print(Map<String, Object> reply) throws IOException;
    }

    /**
     * Starts a job, and fetches what it finds until there is no more; returns its last report.
     *
     * @param action the action that fetches some of it
     * @param more in its reply, whether more may follow
     */
    Map<String, Object> fetch(Map<String, ?> arguments, String action, String more, Printer printer)
            throws IOException, CommandFailedException, InterruptedException {
        var start = new LinkedHashMap<String, Object>(arguments);
        start.put("action", JobControl.START);
        try (ControlSocket.Held held = cli.hold(command, start)) {
            long number = Json.number(held.result(), "number");
            return orStop(number, () -> {
                Map<String, Object> latest = ask(number, action);
                while (Boolean.TRUE.equals(latest.get(more))) {
                    progress.clear();
                    if (!printOrStop(number, latest, printer)) {
                        show(latest);
                    }
                    latest = ask(number, action);
                }
                progress.clear();
                boolean unused = printOrStop(number, latest, printer);
                return latest;
            });
        }
    }

    /** Prints what a job found. If that is not possible, others need not wait for its end. */
    private boolean printOrStop(long number, Map<String, Object> reply, Printer printer)
            throws IOException, CommandFailedException {
        try {
            return printer.print(reply);
        } catch (IOException e) {
            var unused = ask(number, JobControl.STOP);
            throw e;
        }
    }

    /**
     * Waits for the end of a job that runs already; returns its last report.
     *
     * @param report an earlier report
     * @param stops whether the job is stopped if the command is interrupted
     */
    Map<String, Object> follow(Map<String, Object> report, boolean stops)
            throws IOException, CommandFailedException, InterruptedException {
        long number = Json.number(report, "number");
        Wait wait = () -> {
            Map<String, Object> latest = report;
            while (isRunning(latest)) {
                show(latest);
                Thread.sleep(POLL_MILLIS);
                latest = ask(number, JobControl.STATUS);
            }
            return latest;
        };
        Map<String, Object> last = stops ? orStop(number, wait) : wait.forEnd();
        progress.clear();
        return last;
    }

    @FunctionalInterface
    private interface Wait {
        Map<String, Object> forEnd() throws IOException, CommandFailedException, InterruptedException;
    }

    /** Waits for the end of a job, which is stopped if the command is interrupted. */
    private Map<String, Object> orStop(long number, Wait wait)
            throws IOException, CommandFailedException, InterruptedException {
        try (var unused = new OnInterrupt("sdfscli-stop", () -> stop(number))) {
            return wait.forEnd();
        }
    }

    private Map<String, Object> ask(long number, String action) throws IOException, CommandFailedException {
        return cli.ask(command, Map.of("number", number, "action", action));
    }

    private static boolean isRunning(Map<String, Object> report) {
        return "running".equals(report.get("state"));
    }

    private void stop(long number) {
        try {
            Map<String, Object> report = ask(number, JobControl.STOP);
            for (int polls = 0; isRunning(report) && polls < STOP_POLLS; polls++) {
                Thread.sleep(POLL_MILLIS);
                report = ask(number, JobControl.STATUS);
            }
            progress.clear();
            err().println("sdfscli: " + lastWords(kind, report));
        } catch (IOException | CommandFailedException e) {
            err().println("sdfscli: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the last message of an interrupted command. */
    static String lastWords(String kind, Map<String, Object> report) {
        return switch (String.valueOf(report.get("state"))) {
            case "running" -> "the " + kind + " is being stopped";
            case "stopped" -> "the " + kind + " is stopped" + goingOn(kind, report);
            case "done" -> "the " + kind + " was done already";
            default -> "the " + kind + " failed: " + report.get("error");
        };
    }

    /** Returns the end of a message that a job is stopped: what the same command does. */
    static String goingOn(String kind, Map<String, Object> report) {
        if (STARTING_ANEW.contains(kind)) {
            return "; the same command begins another";
        }
        // What the first walk of a restore has made may not be what the tree has later; a further walk goes on.
        return WALKING.equals(report.get("phase"))
                ? " while it looked for files; the same command continues it, or says what to remove first"
                : "; the same command continues it";
    }

    private void show(Map<String, Object> report) {
        if (showProgress) {
            progress.show(line(report));
        }
    }

    private PrintWriter err() {
        return cli.environment().err();
    }

    /**
     * Returns {@code [#####.....] 50 %, 1.20 GiB of 2.40 GiB, 310 MB/s, 4 s left}; while the number of bytes is not
     * known, the number of entries found. Ends with the bytes returned to the file system if the job returns any.
     */
    static String line(Map<String, Object> report) {
        if (report.containsKey("step")) {
            return ProgressLine.step(
                    String.valueOf(report.get("step")),
                    Json.number(report, "stepDone"),
                    Json.number(report, "stepOf"),
                    Json.decimal(report, "stepSeconds"));
        }
        long bytes = Json.number(report, "bytes");
        long done = Json.number(report, "bytesDone");
        String paused = Boolean.TRUE.equals(report.get("paused")) ? ", paused" : "";
        if (WALKING.equals(report.get("phase")) || bytes == 0) {
            long entries = Json.number(report, "entries");
            return (entries == 0 ? "looking" : "found " + entries + " files and folders, " + ByteSize.rounded(bytes))
                    + paused + "      ";
        }
        double share = Math.min(1, (double) done / bytes);
        double rate = (done - Json.number(report, "bytesResumed")) / Math.max(0.001, Json.decimal(report, "seconds"));
        long rest = Math.max(0, bytes - done);
        String left = rate <= 0 ? "" : ", " + RoughTime.of((long) Math.ceil(rest / rate)) + " left";
        String returned = report.containsKey("returnedBytes")
                ? ", " + ByteSize.rounded(Json.number(report, "returnedBytes")) + " returned"
                : "";
        return ProgressLine.bar(share)
                + String.format(
                        Locale.ROOT,
                        "%s of %s, %.0f MB/s%s%s      ",
                        ByteSize.rounded(done),
                        ByteSize.rounded(bytes),
                        rate / 1e6,
                        paused.isEmpty() ? left : paused,
                        returned);
    }
}
