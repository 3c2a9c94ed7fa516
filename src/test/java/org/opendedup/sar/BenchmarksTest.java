package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.disks.Commands;

/**
 * Each benchmark of {@code scripts/bench jmh} and {@code simulator} runs, with the class path that the script gives it.
 */
class BenchmarksTest {
    /** Once each, without a process of its own; the first failure ends it. Large tables are small here. */
    private static final List<String> ONCE = List.of(
            "-f", "0", "-bm", "ss", "-wi", "0", "-i", "1", "-foe", "true", "-p", "chunks=2048", "-p", "entries=2048");

    private static Commands.Result jmh(String... words) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Commands.projectFolder().resolve("scripts/bench").toString());
        command.add("jmh");
        command.addAll(Arrays.asList(words));
        command.addAll(ONCE);
        return Commands.run(Map.of(), command);
    }

    @Test
    void eachBenchmarkRuns() throws IOException {
        Commands.Result result = jmh(".");
        assertEquals(0, result.exitCode(), result::output);
        Set<String> ran = result.output()
                .lines()
                .filter(line -> line.startsWith("# Benchmark: "))
                .map(line -> line.replaceFirst(".*\\.(\\w+)\\.\\w+$", "$1"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(names(), ran);
    }

    @Test
    void controlABenchmarkThatFailsIsNoticed() throws IOException {
        Commands.Result result = jmh("MapTableBenchmark.getPresent", "-p", "entries=many");
        assertNotEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("many"), result::output);
    }

    /** Returns the names of the classes in the sources that have benchmarks. */
    static Set<String> names() throws IOException {
        Set<String> names = new TreeSet<>();
        List<Path> files;
        try (Stream<Path> walk = Files.walk(Commands.projectFolder().resolve("sar-simulator/src/test/java"))) {
            files = walk.filter(file -> file.toString().endsWith(".java")).toList();
        }
        for (Path file : files) {
            if (Files.readString(file).contains("\n    @Benchmark\n")) {
                names.add(file.getFileName().toString().replace(".java", ""));
            }
        }
        return names;
    }
}
