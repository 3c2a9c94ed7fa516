package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.disks.Commands;

/**
 * Nothing that is installed or that a launcher puts on a class path has benchmarks, what runs them, or the systems that
 * they compare with: they are test code and dependencies of test scope, in a folder of their own.
 */
class ShippedLibrariesTest {
    /** Files in a jar: of BerkeleyDB Java Edition, of JMH, of our programs and of what JMH generates for them. */
    private static final Pattern OF_BENCHMARKS =
            Pattern.compile("com/sleepycat/.*|org/openjdk/jmh/.*|org/opendedup/.*(/bench/|Benchmark).*");

    private static final List<String> MODULES = List.of("sar-core", "sdfs-care", "sdfs-integration", "sar-simulator");

    @TempDir
    Path folder;

    @Test
    void noShippedJarHasWhatBenchmarksNeed() throws IOException {
        List<Path> jars = new ArrayList<>();
        for (String module : MODULES) {
            Path target = Commands.projectFolder().resolve(module).resolve("target");
            jars.addAll(jarsIn(target));
            jars.addAll(jarsIn(target.resolve("lib")));
        }
        for (String scheme : List.of("s3", "hdfs")) {
            List<Path> optional =
                    jarsIn(Commands.projectFolder().resolve("sdfs-integration/target/optional/" + scheme));
            assertFalse(optional.isEmpty(), "no libraries are where an address of " + scheme + ":// looks for them");
            jars.addAll(optional);
        }
        assertFalse(jars.isEmpty(), "no module is packaged");
        assertEquals(List.of(), withBenchmarks(jars));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "com/sleepycat/je/Database.class",
                "org/openjdk/jmh/Main.class",
                "org/opendedup/sar/sim/sar/ReplayBenchmark.class",
                "org/opendedup/sar/sim/bench/IndexScale.class"
            })
    void controlAJarWithOneOfThemIsFound(String entry) throws IOException {
        Path jar = folder.resolve("some.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry(entry));
        }
        assertEquals(List.of(jar), withBenchmarks(jarsIn(folder)));
    }

    private static List<Path> jarsIn(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
    }

    private static List<Path> withBenchmarks(List<Path> jars) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path jar : jars) {
            try (ZipFile zip = new ZipFile(jar.toFile())) {
                if (zip.stream()
                        .filter(entry -> !entry.isDirectory())
                        .anyMatch(
                                entry -> OF_BENCHMARKS.matcher(entry.getName()).matches())) {
                    found.add(jar);
                }
            }
        }
        return found;
    }
}
