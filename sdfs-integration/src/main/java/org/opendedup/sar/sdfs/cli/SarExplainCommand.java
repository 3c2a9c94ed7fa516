package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.report.ExplanationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME sar explain}: what the SSD does for a file. */
@Command(
        name = "explain",
        description = {
            "Shows which of a file's chunks are on the SSD, why the others are not, and the time that is " + "saved.",
            "",
            "The time is that of a sequential read with nothing in memory. Reads the file's recipe, not its data.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar explain FILE [--chunks] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Verdicts: on-ssd               the SSD has a copy",
            "          long-run             in a run of neighbours so long that the disk reads it well",
            "          not-wanted-again     qualifies, but was not written again, or read twice, since it qualified",
            "          never-read-twice     too few references; a second read from the disk promotes it",
            "          too-few-references   too few references, and reading does not promote",
            "",
            "Examples:",
            "  sdfscli pool0 sar explain /mnt/pool0/vm/debian.img",
            "  sdfscli pool0 sar explain vm/debian.img --chunks     # from the volume's root; each chunk",
            "  sdfscli pool0 sar explain vm/debian.img --chunks --json | jq '.list[] | select(.verdict==\"long-run\")'"
        })
final class SarExplainCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    SarCommand parent;

    @Parameters(
            paramLabel = "FILE",
            description = "An absolute path in the mounted volume, or a path from the volume's root.")
    Path file = Path.of("");

    @Option(names = "--chunks", description = "List the file's chunks as well.")
    boolean listChunks;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        SarCommand sar = Objects.requireNonNull(parent);
        String path = sar.cli().pathInVolume(file);
        var result = new LinkedHashMap<String, Object>();
        result.put("path", path);
        result.putAll(sar.ask(SarControl.EXPLAIN, Map.of("path", path)));
        if (sar.json(json)) {
            if (listChunks) {
                result.put("list", allChunks(sar, path));
            }
            sar.print(Json.pretty(result));
            return ExitCode.OK;
        }
        sar.print(Json.record(result, ExplanationReport.class).summary(path));
        if (listChunks) {
            sar.print(ExplanationReport.HEADER);
            forEachReply(
                    sar,
                    path,
                    chunks -> chunks.forEach(chunk -> sar.print(
                            Json.record(chunk, ExplanationReport.Chunk.class).line())));
        }
        return ExitCode.OK;
    }

    private static List<Map<String, Object>> allChunks(SarCommand sar, String path)
            throws IOException, CommandFailedException {
        var all = new ArrayList<Map<String, Object>>();
        forEachReply(sar, path, all::addAll);
        return all;
    }

    private static void forEachReply(SarCommand sar, String path, Consumer<List<Map<String, Object>>> consumer)
            throws IOException, CommandFailedException {
        for (long from = 0; from >= 0; ) {
            Map<String, Object> reply = sar.ask(SarControl.CHUNKS, Map.of("path", path, "from", from));
            consumer.accept(Json.objects(reply, "chunks"));
            from = ((Number) reply.getOrDefault("next", -1)).longValue();
        }
    }
}
