package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.StandardOutput;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ByteConnection;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.files.SendControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.keys.SecretSource;
import org.opendedup.sar.volume.send.SendReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME send}: writes the stream of a snapshot, or sends it to a receiver that answers. */
@Command(
        name = "send",
        description = {
            "Sends a snapshot, or what differs from an earlier one, to a copy of the volume on this "
                    + "or another machine.",
            "",
            "Without --to, writes the stream to the standard output: to a file, or through a pipe to 'receive'. With",
            "--to, runs a command whose input and output are those of 'receive --answer': it says "
                    + "what the copy has already, so",
            "only chunks that it lacks are sent, and a transfer that broke off goes on where it was."
        },
        footer = {
            "The volume is in use meanwhile. Every chunk is verified before it is sent; a damaged one ends the stream,",
            "and its file is named. The stream of an encrypted volume is sealed: it is received "
                    + "with a passphrase or key",
            "of this volume. docs/operations/replica.md says more.",
            "",
            "Without --to, the report goes to the error stream, also with --json.",
            "",
            "Exit codes:  0 sent; with --to, received durably   1 failed or was stopped   64 wrong usage",
            "",
            "Examples:",
            "  sdfscli pool0 send monday --to='ssh backup sdfscli copy0 receive --answer'",
            "  sdfscli pool0 send tuesday --since=monday > tuesday.stream",
            "  sdfscli pool0 send monday | ssh backup sdfscli copy0 receive"
        })
final class SendCommand extends VolumeCommand {
    /** The job without a receiver that answers: only {@code --resume} goes on with it. */
    static final String STREAM = "stream";

    /** Time in which a receiver ends after the transfer, in seconds. */
    private static final int ENDING_SECONDS = 60;

    private static final int BUFFER_BYTES = 64 << 10;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "SNAPSHOT",
            description = "Name of a snapshot, as 'snapshot list' shows it.")
    @Nullable
    String snapshot;

    @Option(
            names = "--since",
            paramLabel = "SNAPSHOT",
            description = "An earlier snapshot that the copy has: only what differs is sent. With --to the default is "
                    + "the newest one that the copy has, else all is sent.")
    @Nullable
    String since;

    @Option(
            names = "--to",
            paramLabel = "COMMAND",
            description = "A command for the shell that runs 'receive --answer', here or on another machine.")
    @Nullable
    String to;

    @Option(
            names = "--resume",
            paramLabel = "POINT",
            description =
                    "Go on where a stream without --to broke off: what 'receive' said then, in place of SNAPSHOT.")
    @Nullable
    String resume;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        String receiver = to;
        var request = request(receiver != null);
        if (receiver == null && System.console() != null) {
            throw usage("the stream would go to the terminal: write it to a file or a pipe, or name --to");
        }
        Map<String, Object> report = send(request, receiver);
        while (receiver != null && !snapshot().equals(report.get("snapshot"))) {
            // The receiver had a part of another snapshot, and has all of it now.
            cli().environment().err().println(text(report));
            report = send(request, receiver);
        }
        print(report, receiver != null);
        return ExitCode.OK;
    }

    private String snapshot() {
        return Objects.requireNonNull(snapshot);
    }

    /** Sends once, and returns the report of that. */
    private Map<String, Object> send(Map<String, Object> request, @Nullable String receiver)
            throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> report;
        try (ControlSocket.Held held = cli().hold(SendControl.COMMAND, request);
                ByteConnection bytes = held.bytes()) {
            report = receiver == null ? toOutput(held, bytes) : toReceiver(held, bytes, receiver);
        }
        if (!"done".equals(report.get("state"))) {
            throw new CommandFailedException(
                    "failed".equals(report.get("state"))
                            ? "sending failed: " + report.get("error")
                            : "sending was stopped" + (receiver == null ? "" : "; the same command goes on"));
        }
        return report;
    }

    private Map<String, Object> request(boolean answers) {
        if ((snapshot == null) == (resume == null)) {
            throw usage("name a snapshot, or --resume");
        }
        if (resume != null && (since != null || answers)) {
            throw usage(
                    answers
                            ? "with --to, a transfer goes on by itself: leave --resume out"
                            : "--resume says since when: leave --since out");
        }
        var request = new LinkedHashMap<String, Object>();
        request.put("action", JobControl.START);
        putIfAny(request, "snapshot", snapshot);
        putIfAny(request, "since", since);
        putIfAny(request, "resume", resume);
        request.put("answers", answers ? 1 : 0);
        return request;
    }

    private static void putIfAny(Map<String, Object> request, String name, @Nullable String value) {
        if (value != null) {
            request.put(name, value);
        }
    }

    private Map<String, Object> follow(ControlSocket.Held held)
            throws IOException, CommandFailedException, InterruptedException {
        VolumeClient cli = cli();
        String kind = to == null ? STREAM : SendControl.COMMAND;
        return new JobClient(cli, SendControl.COMMAND, kind, !cli.json).follow(held.result(), true);
    }

    private Map<String, Object> toOutput(ControlSocket.Held held, ByteConnection bytes)
            throws IOException, CommandFailedException, InterruptedException {
        try (OutputStream out = StandardOutput.stream()) {
            Copy copy = Copy.begin("send-out", bytes.in(), out, bytes);
            Map<String, Object> report = follow(held);
            copy.await();
            return report;
        }
    }

    private Map<String, Object> toReceiver(ControlSocket.Held held, ByteConnection bytes, String receiver)
            throws IOException, CommandFailedException, InterruptedException {
        var builder = new ProcessBuilder("/bin/sh", "-c", receiver).redirectError(Redirect.INHERIT);
        SecretSource.withoutSecrets(builder);
        Process process = builder.start();
        try {
            Copy.begin("send-out", bytes.in(), process.getOutputStream(), bytes);
            Copy.begin("send-answers", process.getInputStream(), bytes.out(), null);
            Map<String, Object> report = follow(held);
            boolean hasEnded = process.waitFor(ENDING_SECONDS, TimeUnit.SECONDS);
            boolean isSent = "done".equals(report.get("state")) && !Boolean.TRUE.equals(report.get("known"));
            if (isSent && (!hasEnded || process.exitValue() != 0)) {
                throw new CommandFailedException("the receiver has everything, and "
                        + (hasEnded ? "ended with exit code " + process.exitValue() : "does not end"));
            }
            return report;
        } finally {
            process.destroy();
        }
    }

    /** Copies one stream to another in a thread of its own, and closes the other at the end. */
    private static final class Copy {
        private final Thread thread;
        private volatile @Nullable IOException failure;

        private Copy(String name, InputStream in, OutputStream out, @Nullable ByteConnection connection) {
            thread = new Thread(() -> run(in, out, connection), name);
            thread.setDaemon(true);
        }

        /** @param connection closed if the target fails, so that the daemon does not go on; null: nothing is */
        static Copy begin(String name, InputStream in, OutputStream out, @Nullable ByteConnection connection) {
            Copy copy = new Copy(name, in, out, connection);
            copy.thread.start();
            return copy;
        }

        private void run(InputStream in, OutputStream out, @Nullable ByteConnection connection) {
            byte[] buffer = new byte[BUFFER_BYTES];
            try (out) {
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    out.write(buffer, 0, read);
                    out.flush();
                }
            } catch (IOException e) {
                failure = e;
                close(connection);
            }
        }

        private void close(@Nullable ByteConnection connection) {
            try {
                if (connection != null) {
                    connection.close();
                }
            } catch (IOException e) {
                failure = e;
            }
        }

        void await() throws IOException, InterruptedException {
            thread.join();
            IOException why = failure;
            if (why != null) {
                throw new IOException("the stream cannot be passed on: " + why.getMessage(), why);
            }
        }
    }

    /** @param toOutput whether the report goes to the standard output, where no stream goes */
    private void print(Map<String, Object> report, boolean toOutput) {
        var result = new LinkedHashMap<String, Object>(named(report));
        result.remove("number");
        String text = cli().json ? Json.pretty(result) : text(report);
        (toOutput ? cli().environment().out() : cli().environment().err()).println(text);
        cli().environment().err().flush();
    }

    private static String text(Map<String, Object> report) {
        SendReport sent = Json.record(report, SendReport.class);
        double seconds = Json.decimal(report, "seconds");
        String name = Printable.line(sent.snapshot());
        if (sent.known()) {
            return "The receiver has snapshot " + name + " already.";
        }
        return String.format(
                Locale.ROOT,
                "Sent snapshot %s%s: %d files and folders changed, %d removed; %s of new content, %s sent in %.1f s"
                        + " (%.1f MB/s)",
                name,
                sent.since().isEmpty() ? "" : " since " + Printable.line(sent.since()),
                sent.changed(),
                sent.removed(),
                ByteSize.rounded(sent.chunkBytes()),
                ByteSize.rounded(sent.streamBytes()),
                seconds,
                sent.streamBytes() / 1e6 / Math.max(0.001, seconds));
    }
}
