package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.clone.CloneReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME clone}: copies a file or folder within the volume, by references. */
@Command(
        name = "clone",
        description = {
            "Copies a file or a folder with its contents within the volume.",
            "",
            "No bytes are read or stored: the copy refers to the same chunks, and source and copy are independent from",
            "then on. Keeps names, links, owners, modes, access lists, extended attributes, times and holes, as",
            "cp -a does."
        },
        footer = {
            "TO must not exist; its folder must. It appears when the clone is complete, and is durable then. The",
            "source may be in use: the bytes of each file are those of one moment, the moments of two files differ.",
            "A clone takes capacity as any copy does. A file on the fast tier is first stored in chunks; one that is",
            "open for writing there ends the clone.",
            "",
            "Ctrl-C, a crash or a full volume leaves nothing of the clone; the same command begins again.",
            "",
            "Exit codes:  0 cloned   1 failed or was stopped; there is no clone   64 wrong usage",
            "",
            "Examples:",
            "  sdfscli pool0 clone /mnt/pool0/vm/golden /mnt/pool0/vm/test7",
            "  sdfscli pool0 clone vm/debian.img vm/debian-2.img      # from the volume's root"
        })
final class CloneCommand extends VolumeCommand {
    @Parameters(
            index = "0",
            paramLabel = "FROM",
            description = "File or folder: a path in the mounted volume, or one from the volume's root.")
    Path source = Path.of("");

    @Parameters(index = "1", paramLabel = "TO", description = "The copy: a path of the same kind, that does not exist.")
    Path target = Path.of("");

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        VolumeClient cli = cli();
        String from = cli.pathInVolume(source);
        String to = cli.pathInVolume(withRealFolder(target));
        Map<String, Object> report =
                new JobClient(cli, FileControl.CLONE, !cli.json).run(Map.of("path", from, "target", to));
        boolean isDone = "done".equals(report.get("state"));
        if (cli.json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("path", from);
            result.put("target", to);
            result.putAll(report);
            result.remove("number");
            print(Json.pretty(result));
        }
        if (!isDone) {
            throw new CommandFailedException(
                    "failed".equals(report.get("state"))
                            ? "the clone failed: " + report.get("error")
                            : "the clone was stopped; the same command begins again");
        }
        if (!cli.json) {
            print(text(from, to, Json.record(report, CloneReport.class), Json.decimal(report, "seconds")));
        }
        return ExitCode.OK;
    }

    /** The volume may be mounted behind a symbolic link, which the path of a file that does not exist may contain. */
    private static Path withRealFolder(Path path) throws IOException {
        Path folder = path.getParent();
        Path name = path.getFileName();
        return path.isAbsolute() && folder != null && name != null && Files.isDirectory(folder)
                ? folder.toRealPath().resolve(name)
                : path;
    }

    private static String text(String from, String to, CloneReport made, double seconds) {
        return String.format(
                Locale.ROOT,
                "%s is cloned to %s: %d files, %d folders%s%s, %s in %.1f s (%.0f files/s)",
                from.isEmpty() ? "The volume" : Printable.line(from),
                Printable.line(to),
                made.files(),
                made.folders(),
                some(made.others(), "links and special files"),
                some(made.links(), "further names"),
                ByteSize.rounded(made.bytes()),
                seconds,
                made.entries() / Math.max(0.001, seconds));
    }

    private static String some(long number, String words) {
        return number == 0 ? "" : ", " + number + " " + words;
    }
}
