package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.disks.Commands;

/** Each test that docs/TRUST.md or docs/TESTING.md names exists, with its method if the page names one. */
class TrustPageTest {
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)(?:#(\\w+))?`");
    private static final List<String> SOURCES = List.of(
            "sar-core/src/test",
            "sar-s3/src/test",
            "sar-hdfs/src/test",
            "sdfs-care/src/test",
            "sdfs-integration/src/test",
            "sdfs-plugin/src/test",
            "sar-simulator/src/test",
            "src/test/java");

    @Test
    void everyTestOnThePagesExists() throws IOException {
        for (String name : List.of("docs/TRUST.md", "docs/TESTING.md")) {
            String page = Files.readString(Commands.projectFolder().resolve(name));
            assertTrue(TEST.matcher(page).results().count() >= 20, name + " names few tests");
            assertEquals(Set.of(), missing(page), name);
        }
    }

    @Test
    void controlATestOrAMethodThatDoesNotExistIsFound() throws IOException {
        assertEquals(
                Set.of("`NoSuchTest`", "`TrustPageTest#noSuchMethod`"),
                missing("`NoSuchTest` `TrustPageTest#noSuchMethod` `TrustPageTest#everyTestOnThePagesExists`"));
    }

    private static Set<String> missing(String page) throws IOException {
        List<Path> sources = sources();
        return TEST.matcher(page)
                .results()
                .filter(test -> !exists(test, sources))
                .map(MatchResult::group)
                .collect(Collectors.toSet());
    }

    private static boolean exists(MatchResult test, List<Path> sources) {
        return sources.stream()
                .filter(source -> source.endsWith(test.group(1) + ".java"))
                .anyMatch(source -> test.group(2) == null || text(source).contains(" " + test.group(2) + "("));
    }

    private static List<Path> sources() throws IOException {
        Stream<Path> found = Stream.empty();
        for (String folder : SOURCES) {
            try (Stream<Path> files = Files.walk(Commands.projectFolder().resolve(folder))) {
                found = Stream.concat(found, files.toList().stream());
            }
        }
        return found.toList();
    }

    private static String text(Path source) {
        try {
            return Files.readString(source);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
