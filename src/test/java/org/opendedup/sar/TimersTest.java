package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.disks.Commands;

/** Each timer of a mounted volume goes on after a failure of any kind: see {@link Threads#lasting}. */
class TimersTest {
    private static final Pattern TIMER = Pattern.compile("\\bschedule(?:WithFixedDelay|AtFixedRate)\\(\\s*([\\w.]+)");
    private static final List<String> MODULES =
            List.of("sar-core", "sar-s3", "sar-hdfs", "sdfs-care", "sdfs-integration", "sdfs-plugin");
    /** The log, which cannot log what fails in it, and what commands show. */
    private static final List<String> OTHERS = List.of("/log/", "/UnmountCommand", "/ProgressLog");

    private static List<String> firstWords(Path file) throws IOException {
        List<String> words = new ArrayList<>();
        Matcher timer = TIMER.matcher(Files.readString(file));
        while (timer.find()) {
            words.add(timer.group(1));
        }
        return words;
    }

    @Test
    void allAreLasting() throws IOException {
        List<String> others = new ArrayList<>();
        List<String> bad = new ArrayList<>();
        int good = 0;
        for (String module : MODULES) {
            Path sources = Commands.projectFolder().resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    boolean isOther = OTHERS.stream().anyMatch(file.toString()::contains);
                    for (String word : firstWords(file)) {
                        if (word.equals("Threads.lasting")) {
                            good++;
                        } else {
                            (isOther ? others : bad).add(file + ": " + word);
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), bad);
        assertTrue(good > 10, "timers are found");
        // The control: one that is not lasting is found.
        assertFalse(others.isEmpty());
    }
}
