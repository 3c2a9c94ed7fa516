package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
        modelTransformer = OptionSpecs.class,
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
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    GcCommand parent;

    @Mixin
    PaceOptions pace = new PaceOptions();

    @Option(
            names = "--arrange",
            arity = "1",
            paramLabel = "true|false",
            description =
                    "Whether collections move chunks first as the newest files want them, the scheduled ones too. "
                            + "False after each mount.")
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
        gc.print(json, reply, PaceOptions.changed(reply));
        return ExitCode.OK;
    }

    private Map<String, Object> changes() {
        Map<String, Object> changes = pace.changes();
        changes.putAll(OptionSpecs.changes(Objects.requireNonNull(spec)));
        if (arrange != null) {
            changes.put("arrange", arrange ? 1 : 0);
        }
        return changes;
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
