package org.opendedup.sar.sdfs.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.SystemLogSocket;

/** The daemon's log whose folder is not there for a while; on failing disks: LogOnFailingDiskTest. */
class LogFileAppenderTest {
    @TempDir
    Path folder;

    private Path logFolder() {
        return folder.resolve("log");
    }

    private DaemonLog open() throws Exception {
        return new DaemonLog(logFolder().resolve("pool0.log"), folder.resolve("syslog"));
    }

    @Test
    void warningsGoToTheSystemsLogWhileTheFileFails() throws Exception {
        try (SystemLogSocket system = new SystemLogSocket(folder.resolve("syslog"));
                DaemonLog log = open()) {
            Logger logger = log.logger("org.opendedup.sar.Some");
            logger.info("opened");
            logger.warn("file {} is bad", "a\nb");
            logger.error("a commit failed", new IOException("lost", new IOException("No space left on device")));
            List<String> sent = system.messages();
            assertEquals(3, sent.size(), sent::toString);
            assertTrue(sent.get(0).contains("the log " + logFolder() + "/pool0.log cannot be written"), sent::toString);
            String head = "<28>\\w{3} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d sdfs-pool0\\["
                    + ProcessHandle.current().pid() + "\\]: ";
            assertTrue(sent.get(1).matches(head + "WARN Some: file a\\\\u000ab is bad"), sent::toString);
            assertTrue(sent.get(2).startsWith("<27>"), sent::toString);
            assertTrue(
                    sent.get(2)
                            .endsWith("ERROR Some: a commit failed: java.io.IOException: lost: java.io.IOException: "
                                    + "No space left on device"),
                    sent::toString);

            Files.createDirectory(logFolder());
            logger.info("all is well");
            List<String> lines = log.lines();
            assertEquals(2, lines.size(), lines::toString);
            assertTrue(lines.get(0).contains("3 lines may be missing here since "), lines::toString);
            assertTrue(lines.get(0).endsWith("2 went to the system's log, 0 follow, 1 are lost"), lines::toString);
            assertTrue(lines.get(1).endsWith("all is well"), lines::toString);
            logger.warn("again");
            assertEquals(List.of(), system.messages());
        }
    }

    @Test
    void withoutASystemsLogTheFirstLinesWait() throws Exception {
        try (DaemonLog log = open()) {
            Logger logger = log.logger("org.opendedup.sar.Some");
            int events = LogFileAppender.MAX_WAITING + 50;
            for (int i = 0; i < events; i++) {
                logger.warn(EachEvent.MARKER, "number {} of these", i);
            }
            assertEquals(List.of(), log.lines());
            Files.createDirectory(logFolder());
            log.tick();
            List<String> lines = log.lines();
            assertEquals(1 + LogFileAppender.MAX_WAITING, lines.size());
            assertTrue(
                    lines.get(0)
                            .endsWith(": 0 went to the system's log, " + LogFileAppender.MAX_WAITING
                                    + " follow, 50 are lost"),
                    lines::toString);
            assertTrue(lines.get(1).endsWith("number 0 of these"), lines.get(1));
        }
    }

    @Test
    void whatTheSystemsLogDoesNotTakeAtOnceItGetsLater() throws Exception {
        try (SystemLogSocket system = new SystemLogSocket(folder.resolve("syslog"));
                DaemonLog log = open()) {
            Logger logger = log.logger("org.opendedup.sar.Some");
            int events = 100; // more than a socket holds that nobody reads
            for (int i = 0; i < events; i++) {
                logger.warn(EachEvent.MARKER, "number {} of these", i);
            }
            List<String> sent = new ArrayList<>();
            for (int round = 0; round < events && sent.size() < 1 + events; round++) {
                sent.addAll(system.messages());
                log.tick();
            }
            assertEquals(1 + events, sent.size());
            assertTrue(sent.get(events).endsWith("number 99 of these"), sent.get(events));
            Files.createDirectory(logFolder());
            log.tick();
            assertTrue(
                    log.lines().get(0).endsWith(": 100 went to the system's log, 0 follow, 0 are lost"),
                    log.lines()::toString);
        }
    }

    @Test
    void aFileThatWorksNeedsNoSecondPlace() throws Exception {
        // The control: nothing is sent unless the file fails.
        Files.createDirectory(logFolder());
        try (SystemLogSocket system = new SystemLogSocket(folder.resolve("syslog"));
                DaemonLog log = open()) {
            log.logger("org.opendedup.sar.Some").error("a commit failed");
            log.tick();
            assertEquals(List.of(), system.messages());
            assertEquals(1, log.lines().size());
        }
    }
}
