package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME index convert}: exchanges the fingerprint index for one of another class. */
@Command(
        name = "convert",
        description = {
            "Exchanges the fingerprint index of a mounted volume for one of another class.",
            "",
            "The new index is filled from the containers, beside the old one, which stays in use until then. Programs",
            "may read and write. Both indexes need their memory and their space meanwhile. If the new one cannot be",
            "made, or the volume is unmounted before the end, the old one stays.",
            ""
        },
        customSynopsis = "sdfscli VOLUME index convert CLASS [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Without --wait, the command returns at once; 'index status' shows the progress. Ctrl-C ends only the",
            "waiting.",
            "",
            "Example:",
            "  sdfscli pool0 index convert chunkstash --wait"
        })
final class IndexConvertCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    IndexCommand parent;

    @Parameters(paramLabel = "CLASS", description = "The new class: rocksdb, chunkstash or silo.")
    String kind = "";

    @Option(names = "--wait", description = "Show the progress, and wait for the end.")
    boolean wait;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        IndexCommand index = Objects.requireNonNull(parent);
        if (IndexClass.of(kind).isEmpty()) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    "the index '" + kind + "' is not known; this release has " + IndexClass.labels());
        }
        Map<String, Object> report = index.ask(IndexControl.CONVERT, Map.of(IndexControl.CLASS, kind));
        if (wait) {
            long began = System.nanoTime();
            report = index.follow(report, now -> line(now, began));
            Object error = report.get(IndexControl.ERROR);
            if (error != null) {
                throw new CommandFailedException("the index was not converted: " + error);
            }
        }
        index.print(json, report);
        return ExitCode.OK;
    }

    private static @Nullable String line(Map<String, Object> report, long began) {
        return report.get(IndexControl.CONVERTING) == null
                ? null
                : SarWait.bar(
                        Json.number(report, "examinedContainers"),
                        Json.number(report, "containers"),
                        System.nanoTime() - began,
                        "containers");
    }
}
