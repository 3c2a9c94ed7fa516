package org.opendedup.sar.sdfs.cli;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.daemon.ClosingReport;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.daemon.LastEnd;
import org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;

/**
 * {@code sdfscli VOLUME unmount}: unmounts, waits until the volume is closed and its daemon has released its disks, and
 * reports what is lost if not everything could be written.
 */
@Command(name = "unmount", description = "Unmounts the volume and waits until it is flushed and closed.")
final class UnmountCommand extends VolumeCommand {
    private static final long CLOSE_SECONDS_MAX = 600;
    private static final long POLL_MILLIS = 20;

    @Override
    public Integer call() throws IOException, InterruptedException, CommandFailedException {
        VolumeClient cli = cli();
        cli.requireFiles();
        Map<String, Object> before = cli.ask(VolumeCommands.PING).orElseThrow(cli::nothingToUnmount);
        Optional<Map<String, Object>> answer;
        try (var progress = new SendingProgress(cli.environment(), cli.runFiles())) {
            answer = unmount(cli);
        }
        Map<String, Object> state = answer.orElse(before);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS_MAX);
        long daemon = Json.number(state, "pid");
        // The lock may be that of the next daemon already. A daemon within this process ends before it does.
        boolean isOther = daemon != ProcessHandle.current().pid();
        while (isOther
                ? DaemonProcess.isAlive(daemon)
                : LockFile.isHeld(cli.runFiles().lock())) {
            if (System.nanoTime() > deadline) {
                throw new CommandFailedException("unmounted, but process " + state.get("pid") + " is still closing the "
                        + "volume after " + CLOSE_SECONDS_MAX + " s; see its log");
            }
            Thread.sleep(POLL_MILLIS);
        }
        if (answer.isEmpty()) {
            Optional<LastEnd.Found> badEnd = new LastEnd(cli.runFiles().lastEnd()).foundOf(daemon);
            if (badEnd.isPresent()) {
                throw new CommandFailedException("the daemon ended before it reported how the volume was closed: "
                        + badEnd.get().text() + "; see " + cli.runFiles().log());
            }
        }
        ClosingReport closing = ClosingReport.in(state);
        if (cli.json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("mountPoint", state.get("mountPoint"));
            result.putAll(Json.values(closing));
            print(Json.pretty(named(result)));
            return closing.closed() ? ExitCode.OK : ExitCode.FAILED;
        }
        if (!closing.closed()) {
            throw CommandFailedException.ofLines("unmounted from " + state.get("mountPoint")
                    + ", but the volume was not closed in order:\n  "
                    + closing.text("\n  ") + "\nSee "
                    + cli.runFiles().log());
        }
        cli.environment().out().println("Unmounted " + cli.name() + " from " + state.get("mountPoint") + ".");
        return ExitCode.OK;
    }

    /** Shows how much of a volume in an object store is still to be sent there, while the daemon closes it. */
    private static final class SendingProgress implements AutoCloseable {
        private static final long PERIOD_MILLIS = 500;

        private final Path socket;
        private final ProgressLine line;
        private final ScheduledExecutorService clock =
                Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-unmount"));
        /** The most bytes that were to be sent; only the clock's thread uses it. */
        private long all;

        SendingProgress(Environment environment, RunFiles files) {
            socket = files.socket();
            line = new ProgressLine(environment);
            if (files.definition().store() != null) {
                var unused =
                        clock.scheduleWithFixedDelay(this::show, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
            }
        }

        private void show() {
            Object left = ControlSocket.ping(socket).orElse(Map.of()).get(VolumeDaemon.TO_SEND);
            if (left instanceof Number bytes && bytes.longValue() > 0) {
                all = Math.max(all, bytes.longValue());
                line.at("MiB sent to the object store", all - bytes.longValue() >> 20, Math.max(1, all >> 20));
            }
        }

        @Override
        public void close() throws IOException {
            Threads.end(clock);
            line.clear();
        }
    }

    /** Asks the daemon, which answers when the volume is closed; empty if it ends without an answer. */
    private static Optional<Map<String, Object>> unmount(VolumeClient cli) throws IOException {
        try {
            return cli.ask(VolumeCommands.UNMOUNT);
        } catch (EOFException e) {
            return Optional.empty();
        }
    }
}
