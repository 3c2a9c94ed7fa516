package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.TierReport;
import org.opendedup.sar.sdfs.cli.report.TierText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME tier}: the fast tier for new files. {@link TierControl} answers its requests in the daemon. */
@Command(
        name = "tier",
        description = "Shows and controls the fast tier for new files of a volume.",
        footer = {
            "A volume made with mkfs.sdfs --tier-mode=tddfs stores new files whole on the SSD, as raw files. They are",
            "deduplicated when they are migrated, the coldest first, when the SSD fills. Folders may differ:",
            "  setfattr -n user.sdfs.tier -v sar FOLDER      # new files there are stored in chunks at once",
            "  setfattr -n user.sdfs.tier -v tddfs FOLDER    # new files there are raw",
            "The fast tier is the only place of a raw file, unless the journal stored it in chunks as well."
        })
final class TierCommand extends CommandGroup {
    private static final String PATHS = "Files and folders: paths in the mounted volume, or from the volume's root.";

    TierCommand() {
        super(TierControl.COMMAND);
    }

    @Command(
            description = "Shows the fast tier for new files: mode, use, migrations, and files that are lost.",
            footer = {
                "Raw            files that lie whole on the fast tier",
                "Changed        files in chunks of which the fast tier has what was written since they were migrated",
                "Only there     files of which a lost fast tier loses bytes: raw files that are in no chunks, and",
                "               changed files",
                "Pinned         raw files that are not migrated",
                "In use         raw files that programs have open: they are neither migrated nor stored in chunks",
                "               meanwhile",
                "Since mounted  files stored in chunks, which stay on the fast tier as well, and files migrated, "
                        + "which do",
                "               not, also those migrated again with changed bytes. Ahead: those stored in chunks "
                        + "while",
                "               nobody used the volume, so that migrating them only deletes them",
                "Lost           files whose bytes were only on the fast tier, which does not have them any more. "
                        + "Reading",
                "               them gives an I/O error. Delete them; then bring them back from a backup",
                "",
                "Examples:",
                "  sdfscli pool0 tier status",
                "  sdfscli pool0 tier status --json | jq -r '.lost[]'     # the lost files"
            })
    void status() throws IOException, CommandFailedException {
        Map<String, Object> status = ask(TierControl.STATUS, Map.of());
        print(status, TierText.status(cli().name(), Json.record(status, TierReport.class)));
    }

    @Command(
            description = {
                "Shows for each file where it lies, when it was last used, and when it is migrated.",
                "",
                "For a folder, shows where its new files are stored first."
            },
            footer = {
                "Places: in chunks                deduplicated, in containers, as in a volume without a fast tier",
                "        on the fast tier only    whole; a lost fast tier loses it",
                "        on both                  whole, and in chunks as well: a lost fast tier loses nothing of it",
                "        lost                     only the fast tier had it",
                "",
                "A migrated file stays in chunks, also if it is written again. A file that is emptied and written anew",
                "begins on the fast tier, if its folder wants that.",
                "",
                "Examples:",
                "  sdfscli pool0 tier explain /mnt/pool0/incoming/a.img /mnt/pool0/archive",
                "  sdfscli pool0 tier explain incoming/a.img --json | jq -r '.files[].place'"
            })
    void explain(@Parameters(arity = "1..*", paramLabel = "PATH", description = PATHS) List<Path> files)
            throws IOException, CommandFailedException {
        var explained = new ArrayList<Map<String, Object>>();
        for (Path file : files) {
            String path = cli().pathInVolume(file);
            var one = new LinkedHashMap<String, Object>();
            one.put("path", path.isEmpty() ? "." : path);
            one.putAll(ask(TierControl.EXPLAIN, Map.of("path", path)));
            explained.add(one);
        }
        print(
                Map.of("files", explained),
                explained.stream()
                        .map(one -> TierText.explanation(
                                String.valueOf(one.get("path")), Json.record(one, TierReport.Explained.class)))
                        .collect(Collectors.joining(System.lineSeparator())));
    }

    @Command(
            description = {
                "Migrates raw files now: stores them in chunks, deduplicated, and gives their space on the fast "
                        + "tier back.",
                "",
                "Works on files, and on all files below folders. Files in use are passed over and named. What was "
                        + "migrated",
                "is durable when the command ends, and when Ctrl-C ended it: the same command continues."
            },
            footer = {
                "Pinned files are migrated as well, because they are named here; their folder stays pinned.",
                "Exit code 1 if files were in use, failed or are lost.",
                "",
                "Examples:",
                "  sdfscli pool0 tier migrate /mnt/pool0/incoming/a.img",
                "  sdfscli pool0 tier migrate . --wait                    # the whole volume; waits for files in use"
            })
    int migrate(
            @Parameters(arity = "1..*", paramLabel = "PATH", description = PATHS) List<Path> files,
            @Option(
                            names = "--wait",
                            description = "Try files in use again every second, until they are at rest. Ctrl-C ends"
                                    + " that.")
                    boolean wait)
            throws IOException, CommandFailedException, InterruptedException {
        return run(TierControl.MIGRATE, files, Map.of("wait", wait ? 1 : 0), TierText::migrated);
    }

    /** Runs the work on each path, and prints the result; returns the exit code. */
    private int run(String kind, List<Path> files, Map<String, ?> arguments, Function<Map<String, Object>, String> text)
            throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> report = new TierJobs(cli(), kind, !cli().json).run(files, arguments);
        print(report, text.apply(report));
        return TierJobs.exitCode(report);
    }

    @Command(
            description = {
                "Keeps raw files on the fast tier: they are not migrated.",
                "",
                "Sets the attribute user.sdfs.tier of each path to pin. For a folder: new files below it begin on "
                        + "the fast",
                "tier and stay there, and the raw files below it are pinned. Files that lie in chunks already stay "
                        + "there."
            },
            footer = {
                "The journal stores pinned files in chunks as well, so that a lost SSD does not lose them. Pinned "
                        + "files",
                "count as use of the capacity: if they fill it, new files are stored in chunks.",
                "",
                "Example:",
                "  sdfscli pool0 tier pin /mnt/pool0/vm"
            })
    int pin(@Parameters(arity = "1..*", paramLabel = "PATH", description = PATHS) List<Path> files)
            throws IOException, CommandFailedException, InterruptedException {
        return run(TierControl.PIN, files, Map.of(), report -> TierText.pinned(report, true));
    }

    @Command(
            description = {
                "Lets pinned files be migrated again.",
                "",
                "Removes the attribute user.sdfs.tier where it is pin: of each path, and of all files and folders "
                        + "below",
                "it."
            },
            footer = {
                "The files stay on the fast tier until they are migrated: when they are the least recently used "
                        + "ones, or",
                "by sdfscli VOLUME tier migrate.",
                "",
                "Example:",
                "  sdfscli pool0 tier unpin /mnt/pool0/vm"
            })
    int unpin(@Parameters(arity = "1..*", paramLabel = "PATH", description = PATHS) List<Path> files)
            throws IOException, CommandFailedException, InterruptedException {
        return run(TierControl.UNPIN, files, Map.of(), report -> TierText.pinned(report, false));
    }

    @Command(
            description = {
                "Brings files that lie in chunks back to the SSD, whole.",
                "",
                "Reads those of their chunks from the disk that have no copy on the SSD, in the order of the disk, "
                        + "and copies",
                "them, whatever the promotion policy. A chunk that several files share has one copy. Programs that "
                        + "read are",
                "served first. Raw files are on the fast tier already. With the policy open, opening a file does the "
                        + "same in",
                "the background. A file that is not whole on the SSD then is named, with the reasons; the exit code "
                        + "is 1."
            },
            footer = {
                "Chunks that are used again stay; the least recently used ones leave when others need the room. Ctrl-C "
                        + "ends it.",
                "",
                "Examples:",
                "  sdfscli pool0 tier reload /mnt/pool0/vm/debian.img --wait",
                "  sdfscli pool0 sar explain /mnt/pool0/vm/debian.img     # what is on the SSD now"
            })
    int reload(
            @Parameters(arity = "1..*", paramLabel = "PATH", description = PATHS) List<Path> files,
            @Option(names = "--wait", description = "Wait until the copies are written to the SSD.") boolean wait)
            throws IOException, CommandFailedException, InterruptedException {
        return run(TierControl.RELOAD, files, Map.of("wait", wait ? 1 : 0), TierText::reloaded);
    }

    @Command(
            description = {
                "Uses the fast tier again that was absent when the volume was mounted.",
                "",
                "Without --new, only the folder of this volume is accepted, with the raw files that are in it. Use "
                        + "that",
                "when the device was not mounted, and is now.",
                "",
                "With --new, an empty folder is made if there is none. Use that only when the device is lost or was",
                "replaced: files that were only on it are lost then, and files that were in chunks as well are as they",
                "were when they were stored. The command names what is lost."
            },
            footer = {
                "The folder is the one of the volume file. To use another: unmount the volume, sdfscli VOLUME sar "
                        + "attach",
                "FOLDER, mount it, and attach. SAR's copies in the same folder are attached by sdfscli VOLUME sar "
                        + "attach.",
                "",
                "Examples:",
                "  mount /ssd && sdfscli pool0 tier attach",
                "  sdfscli pool0 tier attach --new              # the old device is gone for good"
            })
    void attach(@Option(names = "--new", description = "Make an empty folder if there is none.") boolean makeNew)
            throws IOException, CommandFailedException {
        Map<String, Object> reply = ask(TierControl.ATTACH, Map.of("new", makeNew ? 1 : 0));
        TierReport report = Json.record(reply, TierReport.class);
        print(
                reply,
                (Boolean.TRUE.equals(report.attached()) ? "Attached " : "In use already: ")
                        + report.location()
                        + System.lineSeparator()
                        + TierText.status(cli().name(), report));
    }
}
