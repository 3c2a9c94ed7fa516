package org.opendedup.sar.sim.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.volume.store.ChunkIndexes;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code scripts/bench index}: fills indexes of each class with made chunks, a process for each, and looks up streams
 * of new, known, drifting and shuffled chunks in them. A row for each step has all classes side by side.
 */
@Command(
        name = "scripts/bench index",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures the classes of fingerprint indexes side by side, without a mount.",
            "",
            "Each class is filled with made chunks in a process of its own, in segments of 256 chunks and containers "
                    + "of 512, then opened again with an empty page cache (as root), and asked for: chunks it does not "
                    + "have; a stream in the order in which it was stored, twice; the same with one of 20 chunks "
                    + "changed, which are stored; segments in random order; chunks in random order.",
            "",
            "--parts=papers, --parts=mount: other comparisons, with options of their own. --parts=made is this one.",
            ""
        })
public final class IndexScale implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** Memory of a JVM beside the index: its own heap and code. */
    private static final long OWN_HEAP_BYTES = 96L << 20;

    private static final long MIN_MEMORY_BYTES = 64L << 20;

    @Option(names = "--work", paramLabel = "FOLDER", description = "Work folder (default: ${DEFAULT-VALUE})")
    private Path work = Path.of("/var/tmp/sar-bench-index");

    @Option(
            names = "--chunks",
            paramLabel = "N,...",
            split = ",",
            description = "Numbers of chunks to store (default: 1000000,10000000,100000000)")
    private List<Long> chunks = List.of(1_000_000L, 10_000_000L, 100_000_000L);

    @Option(
            names = "--classes",
            paramLabel = "CLASS,...",
            split = ",",
            description = "Classes to measure: ${COMPLETION-CANDIDATES} (default: all)")
    private List<IndexClass> classes = List.of(IndexClass.values());

    @Option(
            names = "--memory",
            paramLabel = "MB",
            description = "Memory of each index (default: 10 bytes a chunk, at least 64 MiB)")
    private long memoryMb;

    @Option(
            names = "--lookups",
            paramLabel = "N",
            description = "Chunks to look up in each step (default: ${DEFAULT-VALUE})")
    private long lookups = 1_000_000;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new IndexScale())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (long count : chunks) {
            long memory = memoryMb > 0 ? memoryMb * 1_000_000 : Math.max(MIN_MEMORY_BYTES, count * 10);
            List<List<IndexScaleRun.Step>> steps = new ArrayList<>();
            for (IndexClass kind : classes) {
                steps.add(run(kind, count, memory));
            }
            print(count, memory, steps);
        }
        return 0;
    }

    private List<IndexScaleRun.Step> run(IndexClass kind, long count, long memory)
            throws IOException, InterruptedException {
        Path folder = Files.createDirectories(work).resolve(kind.name() + "-" + count);
        ChunkIndexes.destroy(kind, folder);
        Files.createDirectories(folder);
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-XX:+UseSerialGC",
                        "-Xmx" + (memory + OWN_HEAP_BYTES),
                        "-cp",
                        System.getProperty("java.class.path"),
                        IndexScaleRun.class.getName(),
                        kind.name(),
                        Long.toString(count),
                        Long.toString(memory),
                        Long.toString(lookups),
                        folder.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<IndexScaleRun.Step> steps = new ArrayList<>();
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                IndexScaleRun.Step step = JSON.readValue(line, IndexScaleRun.Step.class);
                steps.add(step);
                System.err.printf("%s, %,d chunks: %s took %.1f s%n", kind, count, step.name(), step.seconds());
            }
            if (process.waitFor() != 0) {
                throw new IOException("measuring " + kind + " ended with " + process.exitValue());
            }
        } finally {
            process.destroy();
            process.waitFor();
            ChunkIndexes.destroy(kind, folder);
            Files.deleteIfExists(folder);
        }
        return steps;
    }

    private void print(long count, long memory, List<List<IndexScaleRun.Step>> steps) {
        System.out.printf(
                "%n%,d chunks, %,d MB of memory, microseconds a chunk (seconds of an opening and a close)%n",
                count, memory / 1_000_000);
        row("", classes.stream().map(kind -> kind.name().toLowerCase(Locale.ROOT)));
        int rows = steps.get(0).size();
        for (int i = 0; i < rows; i++) {
            List<IndexScaleRun.Step> row = new ArrayList<>();
            for (List<IndexScaleRun.Step> each : steps) {
                row.add(each.get(i));
            }
            row(row.get(0).name(), row.stream().map(IndexScale::time));
            if (row.stream().anyMatch(step -> step.found() >= 0)) {
                row("  found of those stored", row.stream().map(step -> "%.2f %%".formatted(step.found())));
            }
            if (row.stream().anyMatch(step -> step.deviceReadBytes() > 0)) {
                row("  read from the disk", row.stream().map(step -> megabytes(step.deviceReadBytes())));
            }
            if (row.stream().anyMatch(step -> step.deviceWrittenBytes() > 0)) {
                row("  written", row.stream().map(step -> megabytes(step.deviceWrittenBytes())));
            }
            if (row.get(0).name().equals("close")) {
                row("  size", row.stream().map(step -> megabytes(step.folderBytes())));
            }
        }
        int last = rows - 1;
        row("memory in use", steps.stream().map(each -> megabytes(each.get(last).usedBytes())));
        row(
                "  most, with free heap",
                steps.stream().map(each -> megabytes(each.get(last).mostBytes())));
        row(
                "  before the first chunk",
                steps.stream().map(each -> megabytes(each.get(0).usedBytes())));
    }

    private static String time(IndexScaleRun.Step step) {
        return step.chunks() == 0
                ? "%.2f s".formatted(step.seconds())
                : "%.2f us".formatted(step.seconds() * 1e6 / step.chunks());
    }

    private static String megabytes(long bytes) {
        return "%,d MB".formatted(Math.round(bytes / 1e6));
    }

    private static void row(String name, Stream<String> cells) {
        System.out.println(
                "%-26s".formatted(name) + cells.map("%14s"::formatted).collect(Collectors.joining()));
    }
}
