package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.FoldersOnly;
import org.opendedup.sar.sdfs.cli.control.BackupControl;
import org.opendedup.sar.sdfs.cli.report.BackupText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.config.OtherHistory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME metadata-backup}: copies the metadata of a mounted volume, and lists the automatic copies. */
@Command(
        name = "metadata-backup",
        description = {
            "Copies the metadata of a mounted volume to a folder, consistent and verified, while it is in use.",
            "",
            "In the folder, the volume has a folder of its own, sar-metadata-ID; nothing else there is touched, and",
            "several volumes may use one folder. It may be on another machine's file system. A further copy shares",
            "what has not changed. The volume also backs its metadata up by itself, to metadata-backups in its data",
            "location."
        },
        customSynopsis = {
            "sdfscli VOLUME metadata-backup FOLDER [--json]",
            "       sdfscli VOLUME metadata-backup --list [--json]",
            "       sdfscli VOLUME metadata-backup --accept-restored"
        },
        footer = {
            "A backup has names, attributes and recipes, and no bytes of files: it is of use only with the volume's",
            "data location.",
            "",
            "Examples:",
            "  sdfscli pool0 metadata-backup /backup/pool0    # an off-site copy",
            "  sdfscli pool0 metadata-backup --list           # the automatic ones",
        })
final class MetadataBackupCommand extends VolumeCommand {
    @Parameters(arity = "0..1", paramLabel = "FOLDER", description = "Where to copy to; made if it is missing.")
    @Nullable
    Path folder;

    @Option(
            names = "--list",
            description = "List the automatic backups, the oldest first; the volume need not be mounted.")
    boolean list;

    @Option(
            names = "--accept-restored",
            description = "After older metadata were restored: give up what only the lost metadata knew. From the next "
                    + "mount on, garbage collection gives its space back.")
    boolean acceptRestored;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        int wanted = (folder == null ? 0 : 1) + (list ? 1 : 0) + (acceptRestored ? 1 : 0);
        if (wanted != 1) {
            throw usage("name a folder, or --list, or --accept-restored");
        }
        VolumeClient cli = cli();
        if (cli.environment().configDirectory().ofPlugin(cli.name()).isEmpty()) {
            FoldersOnly.require(
                    VolumeFile.read(cli.volumeFile()),
                    "The store has the metadata, as of each commit. Against objects that somebody "
                            + "deletes there, let the"
                            + " store keep earlier versions of objects");
        }
        if (acceptRestored) {
            return accept(cli);
        }
        if (list) {
            return list(cli);
        }
        Path absolute = Objects.requireNonNull(folder).toAbsolutePath().normalize();
        Map<String, Object> report =
                new JobClient(cli, BackupControl.COMMAND, !cli.json).run(Map.of("folder", absolute.toString()));
        if (!JobCommand.isDone(report)) {
            throw new CommandFailedException(
                    report.containsKey("error") ? String.valueOf(report.get("error")) : "the copy was stopped");
        }
        var made = Json.record(Json.object(report, BackupControl.MADE), BackupText.One.class);
        int mended = Objects.requireNonNull(made.mended()).size();
        print(
                named(Json.values(made)),
                "Copied to " + made.folder() + " and read back; backup\n" + made.line()
                        + (mended == 0
                                ? ""
                                : "\n" + mended + " files there were damaged, and are copied again: check that disk"));
        return ExitCode.OK;
    }

    /** Whoever has lost the metadata cannot mount the volume, and must see what there is. */
    private int list(VolumeClient cli) throws IOException {
        Map<String, Object> reply = cli.tryAsk(BackupControl.COMMAND, Map.of("action", BackupControl.LIST))
                .orElse(null);
        BackupText.All all = reply == null
                ? BackupText.All.of(MetadataBackups.automatic(cli.locations().data()), null)
                : Json.record(reply, BackupText.All.class);
        print(named(Json.values(all)), all.text());
        return ExitCode.OK;
    }

    private int accept(VolumeClient cli) throws IOException {
        boolean was = OtherHistory.giveUp(FileDirectory.open(cli.locations().data()));
        print(
                named(Map.of("accepted", was)),
                was
                        ? "What only the lost metadata knew is given up: garbage is collected again, and from the next"
                                + " mount on, that space comes back, too."
                        : "Nothing is kept of another history.");
        return ExitCode.OK;
    }
}
