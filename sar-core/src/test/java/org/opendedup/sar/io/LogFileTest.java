package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogFileTest {
    @TempDir
    Path folder;

    private static byte[] line(String text) {
        return (text + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private String text(String name) throws IOException {
        return Files.readString(folder.resolve(name));
    }

    @Test
    void fullFilesAreShiftedAndTheOldestGoes() throws IOException {
        try (LogFile log = new LogFile(folder.resolve("log"), 10, 2)) {
            for (int i = 0; i < 8; i++) {
                log.append(line("aaa" + i));
            }
        }
        assertEquals("aaa6\naaa7\n", text("log"));
        assertEquals("aaa4\naaa5\n", text("log.1"));
        assertEquals("aaa2\naaa3\n", text("log.2"));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(3, files.count());
        }
    }

    @Test
    void whatIsThereIsAppendedTo() throws IOException {
        Files.writeString(folder.resolve("log"), "before\n");
        try (LogFile log = new LogFile(folder.resolve("log"), 15, 1)) {
            log.append(line("after"));
            log.append(line("more"));
        }
        assertEquals("before\nafter\n", text("log.1"));
        assertEquals("more\n", text("log"));
    }

    @Test
    void aTornLineIsEnded() throws IOException {
        Files.writeString(folder.resolve("log"), "whole\nto");
        try (LogFile log = new LogFile(folder.resolve("log"), 100, 1)) {
            log.append(line("next"));
        }
        assertEquals("whole\nto\nnext\n", text("log"));
    }

    @Test
    void aLineThatIsLongerThanAFileIsWrittenWhole() throws IOException {
        try (LogFile log = new LogFile(folder.resolve("log"), 4, 1)) {
            log.append(line("longer than that"));
            log.append(line("x"));
        }
        assertEquals(List.of("longer than that"), Files.readAllLines(folder.resolve("log.1")));
    }

    @Test
    void theFileIsTheOwnersAndIsOpenedAgainAfterAFailure() throws IOException {
        Path file = folder.resolve("later").resolve("log");
        try (LogFile log = new LogFile(file, 100, 1)) {
            assertThrows(IOException.class, () -> log.append(line("lost")));
            Files.createDirectory(folder.resolve("later"));
            log.append(line("kept"));
            log.force();
        }
        assertEquals("kept\n", Files.readString(file));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }
}
