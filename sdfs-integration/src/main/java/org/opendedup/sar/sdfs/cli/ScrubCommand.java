package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.ScrubReport;
import org.opendedup.sar.sdfs.cli.report.ScrubText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME scrub}: the scrubs. {@link ScrubControl} answers its requests in the daemon. */
@Command(
        name = "scrub",
        description = {
            "Reads and verifies everything that the volume stores.",
            "",
            "A scrub reads all containers in the order of the disk while the volume is in use, and compares them with",
            "their checksums, the fingerprints of their chunks and the metadata. It finds damage before a program",
            "reads it, while there may still be a backup. Chunks found damaged are marked: the same content is stored",
            "anew when it is written again, and 'sdfscli VOLUME status' counts them.",
            "",
            "Then it compares the references of all files with the containers, reads the copies on the SSD, and",
            "examines random entries of the fingerprint index. It removes wrong copies and wrong entries: the volume",
            "loses nothing by that. It repairs no file."
        },
        footer = {
            "The volume also scrubs by its schedule, see --scrub-schedule of mkfs.sdfs. Programs go before it at the",
            "disk. One that an unmount or a crash interrupts goes on by itself 5 minutes after the next mount; one",
            "that 'scrub stop' stopped goes on with 'scrub start', or at the next time of the schedule.",
            "",
            "Examples:",
            "  sdfscli pool0 scrub start --wait     # progress, bytes a second, time left, what was found",
            "  sdfscli pool0 scrub status           # what is running, the last result, the next time",
            "  sdfscli pool0 scrub set --rate=50    # at most 50 MB/s, also while a scrub is running"
        })
final class ScrubCommand extends JobCommand {
    ScrubCommand() {
        super(ScrubControl.COMMAND);
    }

    @Command(
            description = {
                "Starts a scrub, or continues the one that was stopped; says which.",
                "",
                "It runs in the daemon while the volume is in use. Without --wait, the command returns when the scrub",
                "has begun."
            },
            footer = {
                "One scrub runs at a time. If one is running already, the command says so; --wait waits for its end,",
                "and Ctrl-C then ends only the waiting. Ctrl-C stops a scrub that the command started itself; the same",
                "command continues it.",
                "",
                "Exit codes:  0 nothing is damaged, or without --wait: begun",
                "             1 failed or stopped",
                "             2 damage found, or chunks of files are known to be damaged from before",
                "             64 wrong usage",
                "",
                "Example:",
                "  sdfscli pool0 scrub start --wait"
            })
    int start(@Option(names = "--wait", description = "Show the progress, and wait for the result.") boolean wait)
            throws IOException, CommandFailedException, InterruptedException {
        Optional<Map<String, Object>> ended = start("scrub", Map.of(), wait);
        return ended.isPresent() ? report(ended.get()) : ExitCode.OK;
    }

    @Override
    String begun(String noun, Map<String, Object> reply) {
        return isStarted(reply) && Boolean.TRUE.equals(reply.get("continued"))
                ? "The scrub that was stopped goes on; " + ByteSize.rounded(Json.number(reply, "bytesResumed"))
                        + " are verified already."
                : super.begun(noun, reply);
    }

    private int report(Map<String, Object> report) throws IOException, CommandFailedException {
        if (!isDone(report) && !cli().json) {
            throw new CommandFailedException("the scrub was stopped; the same command continues it");
        }
        boolean clean = Boolean.TRUE.equals(report.get(ScrubReport.CLEAN));
        // A pass of healing writes a container anew without the chunks that are lost, so a scrub meets them no more.
        long known = Json.number(cli().ask(VolumeCommands.STATS, Map.of()), ScrubReport.DAMAGED_CHUNKS);
        Map<String, Object> reported = named(report);
        reported.put(ScrubReport.DAMAGED_CHUNKS, known);
        print(
                reported,
                (clean ? "" : "DAMAGE FOUND. ")
                        + ScrubText.result(report)
                        + (known == 0 ? "" : "\nSTILL DAMAGED: " + known + " chunks of files are known to be damaged.")
                        + ScrubText.advice(cli().name(), !cli().isOfPlugin(), clean && known == 0));
        if (!isDone(report)) {
            return ExitCode.FAILED;
        }
        return clean && known == 0 ? ExitCode.OK : ExitCode.DAMAGED;
    }

    @Command(
            description = {
                "Shows the scrubs of a mounted volume.",
                "",
                "Prints the progress of the running or stopped one and what it has found, the pace, the schedule with",
                "its next time, and the result of the last complete one, which may be older than the mount."
            },
            footer = {
                "Examples:",
                "  sdfscli pool0 scrub status",
                "  sdfscli pool0 scrub status --json | jq .last.damagedFrames"
            })
    void status() throws IOException, CommandFailedException {
        Map<String, Object> status = askFor(ScrubControl.STATUS, Map.of());
        String progress = JobClient.line(Json.object(status, "current"));
        print(status, ScrubText.status(cli().name(), !cli().isOfPlugin(), status, progress));
    }

    @Command(
            description = {
                "Changes the pace of the scrubs of a mounted volume.",
                "",
                "It takes effect at once, also while a scrub is running, and until the volume is unmounted."
            },
            customSynopsis = "sdfscli VOLUME scrub set OPTION... [--json]",
            footer = {
                "Examples:",
                "  sdfscli pool0 scrub set --rate=50       # a terabyte takes about 6 hours",
                "  sdfscli pool0 scrub set --rate=0        # as fast as the disk and programs allow",
                "  sdfscli pool0 scrub set --paused=true   # a scheduled one waits too"
            })
    void set(@Mixin PaceOptions pace) throws IOException, CommandFailedException {
        set(pace.changes(), "--rate=50");
    }

    @Command(
            description = {
                "Stops the running scrub after the container at hand.",
                "",
                "What it has verified counts: 'scrub start' continues it from there, also after a new mount. It does",
                "not go on by itself before the next time of the schedule."
            },
            footer = {"Example:", "  sdfscli pool0 scrub stop"})
    void stop() throws IOException, CommandFailedException {
        print(named(askFor(ScrubControl.STOP, Map.of())), "The scrub is being stopped; 'scrub start' continues it.");
    }
}
