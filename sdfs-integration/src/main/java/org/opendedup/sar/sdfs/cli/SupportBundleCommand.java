package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.control.JvmControl;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.support.BundleContents;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME support-bundle}: a file for a bug report. */
@Command(
        name = "support-bundle",
        description = {
            "Writes a zip file for a bug report: logs, settings, figures, what the JVM does; no bytes of files.",
            "",
            "Names of files, folders, host, user and volume are replaced by placeholders. The volume may be mounted or",
            "not. Only you may read the file. An existing file is never replaced."
        })
final class SupportBundleCommand extends VolumeCommand {
    /** Longest time for one answer of the daemon: a bundle is needed of one that hangs, too. */
    private static final int ANSWER_SECONDS_MAX = 30;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "FILE.zip",
            description = "The new file. Default: sdfs-support-DATE-TIME.zip in the current folder.")
    @Nullable
    Path file;

    @Option(names = "--with-names", description = "Keep all names. Needed only if a developer asks for it.")
    boolean withNames;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = cli();
        Path target = file == null ? Path.of(defaultName()) : file;
        Optional<Map<String, Object>> state = ControlSocket.ping(cli.runFiles().socket());
        var sources = new BundleContents.Sources(
                cli.volumeFile(),
                cli.runFiles(),
                state.map(found -> String.valueOf(found.getOrDefault("mountPoint", "")))
                        .orElse(""),
                answers(cli),
                state.isPresent() ? jvm(cli) : Map.of());
        List<String> entries;
        try {
            entries = BundleContents.write(target, withNames, sources);
        } catch (FileAlreadyExistsException e) {
            throw new CommandFailedException(target + " exists already; name another file, or remove it");
        }
        var out = cli.environment().out();
        if (cli.json) {
            var values = new LinkedHashMap<String, Object>();
            values.put("name", cli.name());
            values.put("file", target.toAbsolutePath().normalize().toString());
            values.put("entries", entries);
            values.put("withNames", withNames);
            out.println(Json.pretty(values));
            return ExitCode.OK;
        }
        out.println("Wrote " + target.toAbsolutePath().normalize() + ", which only you can read. It holds:");
        entries.forEach(entry -> out.println("  " + entry));
        out.println(
                withNames
                        ? "It has the names of files, folders, host, user and volume, and no bytes of files."
                        : "Names are replaced by placeholders, and it has no bytes of files.");
        out.println("Look through it before you send it to somebody.");
        return ExitCode.OK;
    }

    private static String defaultName() {
        return "sdfs-support-" + DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").format(LocalDateTime.now()) + ".zip";
    }

    private static Map<String, Callable<Map<String, Object>>> questions(VolumeClient cli) {
        var questions = new LinkedHashMap<String, Callable<Map<String, Object>>>();
        questions.put("status.json", () -> cli.ask(VolumeCommands.STATUS, Map.of()));
        questions.put("info.json", () -> cli.ask(VolumeCommands.INFO, Map.of()));
        questions.put("stats.json", () -> cli.ask(VolumeCommands.STATS, Map.of()));
        questions.put("df.json", () -> Json.values(DfCommand.space(cli)));
        questions.put("top.json", () -> cli.ask(FileControl.TOP, Map.of()));
        questions.put("gc-status.json", () -> cli.ask(GcControl.COMMAND, Map.of("action", GcControl.STATUS)));
        questions.put("sar-status.json", () -> cli.ask(SarControl.COMMAND, Map.of("action", JobControl.STATUS)));
        return questions;
    }

    private static Map<String, Callable<Map<String, Object>>> answers(VolumeClient cli) {
        var answers = new LinkedHashMap<String, Callable<Map<String, Object>>>();
        questions(cli).forEach((entry, question) -> answers.put(entry, () -> inTime(question)));
        return answers;
    }

    private static Map<String, Callable<String>> jvm(VolumeClient cli) {
        var parts = new LinkedHashMap<String, Callable<String>>();
        parts.put("jvm/threads.txt", () -> part(cli, JvmControl.THREADS));
        parts.put("jvm/heap-by-class.txt", () -> part(cli, JvmControl.HISTOGRAM));
        parts.put("jvm/flags.txt", () -> part(cli, JvmControl.FLAGS));
        parts.put("jvm/command-line.txt", () -> part(cli, JvmControl.COMMAND_LINE));
        parts.put("jvm/version.txt", () -> part(cli, JvmControl.VERSION));
        return parts;
    }

    private static String part(VolumeClient cli, String part) throws IOException {
        return String.valueOf(
                inTime(() -> cli.ask(JvmControl.COMMAND, Map.of("part", part))).get("text"));
    }

    /** Asks on another thread, which is left behind if there is no answer in time. */
    private static Map<String, Object> inTime(Callable<Map<String, Object>> question) throws IOException {
        var task = new FutureTask<>(question);
        var thread = new Thread(task, "ask");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(ANSWER_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + ANSWER_SECONDS_MAX + " s", e);
        } catch (ExecutionException e) {
            throw new IOException(
                    e.getCause() == null ? e.getMessage() : e.getCause().getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
