package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.PlainNames;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.restore.RestoreStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME restore}: restores files and folders to another file system, without FUSE. */
@Command(
        name = "restore",
        description = {
            "Restores a file or a folder with its contents to another file system.",
            "",
            "Reads the containers of the volume in their order, each once for all files together. This is faster",
            "than cp for many or fragmented files. Keeps names, links, owners, modes, access lists, extended",
            "attributes, times and holes."
        },
        footer = {
            "DESTINATION must not exist, or must be an empty folder. It becomes what PATH is. While the restore",
            "runs, only its owner can open it. The volume's daemon writes it with the rights of the daemon's user;",
            "only a daemon of root can give files to other users. A single file gets its name when it is complete.",
            "DESTINATION must not lie in a FUSE file system that another user has mounted.",
            "",
            "After an interruption (Ctrl-C, a crash, an unmount) the same command continues the restore. For this,",
            "the folder .NAME.sdfs-restore is kept in the destination's parent folder until the restore is complete,",
            "with 40 bytes for each chunk. If the contents of files changed since the restore began, or were stored",
            "elsewhere, it writes all bytes again. If there are other files, or it had not found all files yet, it",
            "says what to remove to begin again.",
            "",
            "Every chunk is verified. A damaged chunk becomes a hole in the restored file, the name of the file and",
            "the offset are printed, and the restore continues. What the destination refuses is printed too: a file",
            "that is too long for it, a name, an owner, an attribute, a special file. Exit code 0: all is restored;",
            "1: some bytes are not; 6: all bytes are, but some owners, attributes or special files are not, or a",
            "program wrote to a file while it was read.",
            "",
            "Examples:",
            "  sdfscli pool0 restore /mnt/pool0/backups/monday /srv/monday",
            "  sdfscli pool0 restore vm/debian.img /var/lib/images/debian.img     # from the volume's root",
            "  sdfscli pool0 restore . /srv/all --json | jq .damages              # the whole volume"
        })
final class RestoreCommand extends VolumeCommand {
    @Parameters(
            index = "0",
            paramLabel = "PATH",
            description = "File or folder: a path in the mounted volume, or one from the volume's root.")
    Path source = Path.of("");

    @Parameters(index = "1", paramLabel = "DESTINATION", description = "File or folder to write.")
    Path destination = Path.of("");

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        VolumeClient cli = cli();
        String path = cli.pathInVolume(source);
        Path target = destination.toAbsolutePath().normalize();
        if (!PlainNames.isText(target)) {
            throw new CommandFailedException("the destination's name, such as " + target
                    + ", is not UTF-8 text; restore to another name, and rename the result");
        }
        Map<String, Object> report = new JobClient(cli, FileControl.RESTORE, !cli.json)
                .run(Map.of("path", path, "destination", target.toString()));
        boolean done = "done".equals(report.get("state"));
        // One that failed at once has no status.
        RestoreStatus status = report.containsKey("phase") ? Json.record(report, RestoreStatus.class) : null;
        if (cli.json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("path", path);
            result.put("destination", target.toString());
            result.putAll(report);
            result.remove("number");
            print(Json.pretty(result));
        } else if (status != null) {
            print(status);
            if (done) {
                print(text(path, target, status));
            }
        }
        if (!done || status == null) {
            throw new CommandFailedException(
                    "failed".equals(report.get("state"))
                            ? "the restore failed: " + report.get("error")
                            : "the restore was stopped" + JobClient.goingOn(FileControl.RESTORE, report));
        }
        if (status.damagedPlaces() + status.filesMissing() != 0) {
            return ExitCode.FAILED;
        }
        return status.attributesLost() + status.entriesLost() + status.filesChanging() == 0
                ? ExitCode.OK
                : ExitCode.INCOMPLETE;
    }

    /** Prints what is not as it was. */
    private void print(RestoreStatus status) {
        PrintWriter err = cli().environment().err();
        if (status.notStored() != null) {
            err.println("the volume cannot store all that was written, and is restored as programs read it: "
                    + Printable.line(status.notStored()));
        }
        status.damages().forEach(damage -> err.println("damaged: " + Printable.line(damage)));
        status.losses().forEach(loss -> err.println("not restored: " + Printable.line(loss)));
    }

    private static String text(String path, Path target, RestoreStatus status) {
        long written = status.bytesDone() - status.bytesResumed();
        return String.format(
                Locale.ROOT,
                "%s is restored to %s: %d files and folders, %s in %.1f s (%.0f MB/s)%s%s%s%s%s",
                path.isEmpty() ? "The volume" : Printable.line(path),
                Printable.line(target.toString()),
                status.entries(),
                ByteSize.rounded(written),
                status.seconds(),
                written / 1e6 / Math.max(0.001, status.seconds()),
                some(status.attributesLost(), "owners, modes or extended attributes could not be set there"),
                some(status.entriesLost(), "links or special files could not be made there"),
                some(status.filesChanging(), "files were written to meanwhile"),
                some(status.filesMissing(), "files or folders are MISSING there, or not as they were last"),
                some(status.damagedPlaces(), "places are DAMAGED and left empty; see the daemon's log"));
    }

    private static String some(long number, String words) {
        return number == 0 ? "" : "; " + number + " " + words;
    }
}
