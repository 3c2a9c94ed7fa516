package org.opendedup.sar.sdfs.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import picocli.CommandLine.Command;

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
            "loses nothing by that. It repairs no file.",
            ""
        },
        customSynopsis = "sdfscli VOLUME scrub COMMAND%n",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {ScrubStartCommand.class, ScrubStatusCommand.class, ScrubSetCommand.class, ScrubStopCommand.class
        },
        footer = {
            "",
            "The volume also scrubs by its schedule, see --scrub-schedule of mkfs.sdfs. Programs go before it at the",
            "disk. One that an unmount or a crash interrupts goes on by itself 5 minutes after the next mount; one",
            "that 'scrub stop' stopped goes on with 'scrub start', or at the next time of the schedule.",
            "",
            "Examples:",
            "  sdfscli pool0 scrub start --wait     # progress, bytes a second, time left, what was found",
            "  sdfscli pool0 scrub status           # what is running, the last result, the next time",
            "  sdfscli pool0 scrub set --rate=50    # at most 50 MB/s, also while a scrub is running"
        })
final class ScrubCommand extends CommandGroup {
    ScrubCommand() {
        super(ScrubControl.COMMAND);
    }

    /** Returns a report with the volume's name, and without the number that only the daemon needs. */
    Map<String, Object> named(Map<String, Object> report) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli().name());
        named.putAll(report);
        named.remove("number");
        return named;
    }
}
