package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The parameters of the tier commands that work on files and folders, and their call. */
final class TierPaths {
    @Parameters(
            arity = "1..*",
            paramLabel = "PATH",
            description = "Files and folders: absolute paths in the mounted volume, or paths from the volume's root.")
    List<Path> files = List.of();

    @Option(names = "--json", description = "Print JSON, and no progress; the keys are stable.")
    boolean json;

    /**
     * Runs the work on each path, and prints the result.
     *
     * @param kind the work, as {@link org.opendedup.sar.sdfs.cli.files.TierControl} names it
     * @param arguments further arguments of the work
     * @param text turns the report into the text for people
     * @return the exit code
     */
    int run(
            @Nullable TierCommand parent,
            String kind,
            Map<String, ?> arguments,
            Function<Map<String, Object>, String> text)
            throws IOException, CommandFailedException, InterruptedException {
        TierCommand tier = Objects.requireNonNull(parent);
        boolean asJson = tier.json(json);
        Map<String, Object> report = new TierJobs(tier.cli(), kind, !asJson).run(files, arguments);
        tier.print(asJson, report, text.apply(report));
        return TierJobs.exitCode(report);
    }
}
