package org.opendedup.sar.sdfs.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon's log under floods of events. */
class RepeatsAppenderTest {
    @TempDir
    Path folder;

    private DaemonLog log;
    private Logger logger;

    @BeforeEach
    void open() throws Exception {
        log = new DaemonLog(folder.resolve("pool0.log"), folder.resolve("nobody"));
        logger = log.logger("org.opendedup.sar.Test");
    }

    @AfterEach
    void close() {
        log.close();
    }

    private long count(String part) throws IOException {
        return log.lines().stream().filter(line -> line.contains(part)).count();
    }

    @Test
    void anEqualWarningIsOneLineAndOneCount() throws IOException {
        for (int i = 0; i < 3000; i++) {
            logger.warn("the index takes nothing new: {}", "No space left on device");
        }
        logger.warn("the index does not answer: {}", "No space left on device");
        log.endPeriod();
        List<String> lines = log.lines();
        assertEquals(3, lines.size(), lines::toString);
        assertTrue(lines.get(0).endsWith("the index takes nothing new: No space left on device"), lines::toString);
        assertTrue(lines.get(1).contains("does not answer"), lines::toString);
        assertTrue(
                lines.get(2)
                        .matches(".* WARN .*: 2999 more times in the last \\d+ s: the index takes nothing new: No .*"),
                lines::toString);
    }

    @Test
    void aStackIsShownOnceForItsKind() throws IOException {
        for (int i = 0; i < 1000; i++) {
            for (int file = 0; file < 3; file++) {
                logger.error("file {} cannot be stored", file, failure("disk " + file));
            }
        }
        log.endPeriod();
        assertEquals(1, count("Test.failure"), log.lines()::toString);
        assertEquals(1, count("\tat " + RepeatsAppenderTest.class.getName() + ".aStack"), log.lines()::toString);
        for (int file = 0; file < 3; file++) {
            assertEquals(
                    1,
                    count("999 more times in the last 1 s: file " + file + " cannot be stored: "
                            + "java.io.IOException: disk " + file));
        }
        // One of another place is another kind.
        logger.error("file {} cannot be stored", 0, new IOException("disk 0"));
        assertEquals(2, count("\tat " + RepeatsAppenderTest.class.getName() + ".aStack"), log.lines()::toString);
    }

    private static IOException failure(String message) {
        return new IOException(message);
    }

    @Test
    void whatWasCountedIsToldAtTheEnd() throws IOException {
        for (int i = 0; i < 10; i++) {
            logger.warn("equal");
        }
        log.close();
        assertEquals(1, count("9 more times in the last"), log.lines()::toString);
    }

    @Test
    void braces() throws IOException {
        for (int i = 0; i < 2; i++) {
            logger.warn("name {}", "{} {}");
        }
        log.endPeriod();
        assertEquals(2, count("name {} {}"), log.lines()::toString);
    }

    @Test
    void whatSomebodyAskedForIsNotBounded() throws IOException {
        logger.setLevel(Level.DEBUG);
        for (int i = 0; i < 100; i++) {
            logger.debug("equal");
            logger.warn(EachEvent.MARKER, "damaged: {}", "file " + i);
        }
        assertEquals(100, count("DEBUG"));
        assertEquals(100, count("damaged: file"));
    }
}
