package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

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
final class ScrubCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    SdfsCli parent;

    @Option(names = "--json", description = "Print JSON. May also follow the command.")
    boolean json;

    @Override
    public Integer call() {
        throw new ParameterException(
                Objects.requireNonNull(spec).commandLine(), "name a command, such as sdfscli VOLUME scrub status");
    }

    SdfsCli cli() {
        return Objects.requireNonNull(parent);
    }

    /** Returns whether JSON is wanted, by this command, the one above it, or the calling subcommand. */
    boolean json(boolean asked) {
        return asked || json || cli().json;
    }

    /** @throws CommandFailedException if the volume is not mounted */
    Map<String, Object> ask(String action, Map<String, ?> arguments) throws IOException, CommandFailedException {
        var request = new LinkedHashMap<String, Object>(arguments);
        request.put("action", action);
        return cli().ask(ScrubControl.COMMAND, request);
    }

    /** Returns a report with the volume's name, and without the number that only the daemon needs. */
    Map<String, Object> named(Map<String, Object> report) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli().name());
        named.putAll(report);
        named.remove("number");
        return named;
    }

    /** Prints a reply as JSON, or as the given text. */
    void print(boolean asked, Map<String, Object> reply, String words) {
        cli().environment().out().println(json(asked) ? Json.pretty(reply) : words);
    }
}
