package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.disks.Commands;

/** No class that is shipped has more lines than CONTRIBUTING.md allows. */
class ClassSizeTest {
    private static final int MAX_LINES = 1000;
    /** From this number of lines on a class is reported: it may have two concerns. */
    private static final int LONG_LINES = 800;

    private static final List<String> MODULES = List.of(
            "sar-core",
            "sar-s3",
            "sar-hdfs",
            "sdfs-care",
            "sdfs-integration",
            "sar-simulator",
            "sdfs-api",
            "sdfs-plugin");

    @Test
    void noClassIsLong() throws IOException {
        longerThan(LONG_LINES).forEach(file -> System.out.println("more than " + LONG_LINES + " lines: " + file));
        assertEquals(List.of(), longerThan(MAX_LINES));
    }

    @Test
    void controlLongClassesAreFound() throws IOException {
        List<String> found = longerThan(300);
        assertTrue(found.stream().anyMatch(file -> file.endsWith("/Volume.java")), found::toString);
    }

    private static List<String> longerThan(int lines) throws IOException {
        List<String> found = new ArrayList<>();
        for (String module : MODULES) {
            Path sources = Commands.projectFolder().resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    if (Files.readAllLines(file).size() > lines) {
                        found.add(Commands.projectFolder().relativize(file).toString());
                    }
                }
            }
        }
        return found;
    }
}
