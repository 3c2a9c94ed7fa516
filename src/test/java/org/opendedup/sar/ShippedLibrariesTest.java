package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/**
 * Nothing that is installed or that a launcher puts on a class path has the systems that benchmarks compare with: they
 * are dependencies of test scope, and in a folder of their own.
 */
class ShippedLibrariesTest {
    /** Folder of the classes of BerkeleyDB Java Edition in a jar. */
    private static final String COMPARATOR = "com/sleepycat/";

    private static final List<String> MODULES = List.of("sar-core", "sdfs-integration", "sar-simulator");

    @TempDir
    Path folder;

    @Test
    void noShippedJarHasAComparator() throws IOException {
        List<Path> jars = new ArrayList<>();
        for (String module : MODULES) {
            Path target = Commands.projectFolder().resolve(module).resolve("target");
            jars.addAll(jarsIn(target));
            jars.addAll(jarsIn(target.resolve("lib")));
        }
        assertFalse(jars.isEmpty(), "no module is packaged");
        assertEquals(List.of(), withComparator(jars));
    }

    @Test
    void controlAJarWithAComparatorIsFound() throws IOException {
        Path jar = folder.resolve("some.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry(COMPARATOR + "je/Database.class"));
        }
        assertEquals(List.of(jar), withComparator(jarsIn(folder)));
    }

    private static List<Path> jarsIn(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
    }

    private static List<Path> withComparator(List<Path> jars) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path jar : jars) {
            try (ZipFile zip = new ZipFile(jar.toFile())) {
                if (zip.stream().anyMatch(entry -> entry.getName().startsWith(COMPARATOR))) {
                    found.add(jar);
                }
            }
        }
        return found;
    }
}
