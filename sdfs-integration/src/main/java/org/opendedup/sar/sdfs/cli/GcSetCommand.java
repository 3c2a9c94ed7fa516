package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.report.GcText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME gc set}: changes the pace of collections, and how hard they compress. */
@Command(
        name = "set",
        description = {
            "Changes the pace of the collections of garbage of a mounted volume, and how hard they compress.",
            "",
            "The pace takes effect at once, also while a collection is running, and until the volume is unmounted.",
            ""
        },
        customSynopsis = "sdfscli VOLUME gc set OPTION... [--json]%n",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 gc set --paused=true     # after the container at hand; a scheduled one waits too",
            "  sdfscli pool0 gc set --paused=false",
            "  sdfscli pool0 gc set --rate=20",
            "  sdfscli pool0 gc set --arrange=true    # scheduled collections make the newest files faster to read",
            "  sdfscli pool0 gc set --rate=0          # as fast as the disk allows",
            "  sdfscli pool0 gc set --recompress=zstd:9   # from the next collection on, also after a new mount"
        })
final class GcSetCommand implements Callable<Integer> {
    /** Largest rate, in MB/s. */
    private static final int RATE_MAX = 1_000_000;

    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    GcCommand parent;

    @Option(
            names = "--rate",
            paramLabel = "MB_PER_S",
            description = "Bound on what a collection reads and writes, in MB/s (10^6 bytes a second); 0: no bound.")
    @Nullable
    Double rate;

    @Option(
            names = "--paused",
            arity = "1",
            paramLabel = "true|false",
            description = "Pause collections after the container at hand, or continue them.")
    @Nullable
    Boolean paused;

    @Option(
            names = "--recompress",
            paramLabel = "LEVEL",
            description = "How hard later collections compress what has stayed since the one before: zstd:LEVEL (1 to "
                    + "19), higher than that of writing, or off. Kept in the volume file.")
    @Nullable
    String recompress;

    @Option(
            names = "--arrange",
            arity = "1",
            paramLabel = "true|false",
            description =
                    "Whether collections move chunks first as the newest files want them, the scheduled ones too.")
    @Nullable
    Boolean arrange;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        GcCommand gc = Objects.requireNonNull(parent);
        Map<String, Object> changes = changes();
        if (changes.isEmpty()) {
            throw usage("name a value to set, such as --rate=20");
        }
        Map<String, Object> reply = gc.ask(GcControl.SET, changes);
        String text = GcText.changes(Json.object(reply, "before"), Json.object(reply, "after"));
        gc.print(json, reply, text.isEmpty() ? "Nothing changed: the pace is this already." : text);
        return ExitCode.OK;
    }

    private Map<String, Object> changes() {
        var changes = new LinkedHashMap<String, Object>();
        if (rate != null) {
            long bytes = Math.round(rate * 1e6);
            if (!(rate >= 0 && rate <= RATE_MAX) || (bytes == 0 && rate > 0)) {
                throw usage("a rate is from 0.000001 to " + RATE_MAX + " MB/s, or 0 for no bound");
            }
            changes.put("bytesPerSecond", bytes);
        }
        if (paused != null) {
            changes.put("paused", paused ? 1 : 0);
        }
        if (recompress != null) {
            changes.put(GcControl.RECOMPRESS, Objects.requireNonNull(parent).checked(recompress));
        }
        if (arrange != null) {
            changes.put("arrange", arrange ? 1 : 0);
        }
        return changes;
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
