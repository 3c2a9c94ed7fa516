package org.opendedup.sar.sdfs.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.joran.spi.JoranException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;
import org.opendedup.sar.io.SystemLogSocket;
import org.slf4j.Logger;

/** The daemon's log on a disk that fails: important lines are in a second destination, and the log reports its gaps. */
@Timeout(120)
class LogOnFailingDiskTest {
    private static final long DISK_BYTES = 16L << 20;
    private static final int EVENTS = 100;

    @TempDir
    Path folder;

    /** As in the daemon's configuration, in addition to the tests' own. */
    private static final class Log implements AutoCloseable {
        final LoggerContext context = new LoggerContext();
        private final Path file;

        Log(Path file, Path socket) throws JoranException {
            this.file = file;
            context.setMDCAdapter(new LogbackMDCAdapter());
            context.putProperty("sdfs.log.file", file.toString());
            context.putProperty("sdfs.log.socket", socket.toString());
            var configurator = new JoranConfigurator();
            configurator.setContext(context);
            configurator.doConfigure(Objects.requireNonNull(EachEvent.class.getResource("/logback-daemon.xml")));
        }

        List<String> lines() throws IOException {
            return Files.readAllLines(file);
        }

        @Override
        public void close() {
            context.stop();
        }
    }

    private interface Fault {
        void on(LoopDisk disk) throws Exception;
    }

    private void check(Fault fault, Fault repair) throws Exception {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES);
                SystemLogSocket system = new SystemLogSocket(folder.resolve("syslog"));
                Log log = new Log(folderOn(disk).resolve("pool0.log"), folder.resolve("syslog"))) {
            Logger logger = log.context.getLogger("org.opendedup.sar.Some");
            logger.warn("before");
            Commands.succeed("sync", "-f", disk.folder());
            fault.on(disk);
            // Long enough for many blocks: the first few still fit.
            String rest = "x".repeat(1500);
            List<String> sent = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) {
                logger.error(EachEvent.MARKER, "event {}: {}", i, rest);
                sent.addAll(system.messages());
            }
            List<String> inFile = log.lines();
            for (int i = 0; i < EVENTS; i++) {
                String event = "event " + i + ": ";
                assertTrue(
                        contains(sent, event) || contains(inFile, event), () -> event + "is nowhere: " + inFile.size());
            }
            // The control: the file alone does not have all of them.
            assertTrue(
                    inFile.stream().filter(line -> line.contains("event ")).count() < EVENTS, "the disk did not fail");
            assertTrue(sent.get(0).contains("cannot be written"), sent.get(0));

            repair.on(disk);
            logger.info("after");
            List<String> repaired = log.lines();
            String gap = repaired.get(repaired.size() - 2);
            assertTrue(gap.matches(".* lines may be missing here since .*, 0 follow, 0 are lost"), gap);
            assertTrue(repaired.get(repaired.size() - 1).endsWith("after"), repaired::toString);
            assertTrue(repaired.get(0).endsWith("before"), repaired::toString);
            for (String line : repaired) {
                assertTrue(line.matches("\\d{4}-\\d\\d-\\d\\dT.*"), () -> "torn: " + line);
            }
            assertEquals(List.of(), system.messages());
        }
    }

    /** Makes a folder: while the disk is not mounted there is none, and the log cannot go on below the mount point. */
    private static Path folderOn(LoopDisk disk) throws IOException {
        return Files.createDirectory(disk.folder().resolve("log"));
    }

    private static boolean contains(List<String> lines, String part) {
        return lines.stream().anyMatch(line -> line.contains(part));
    }

    @Test
    void aFullDisk() throws Exception {
        check(
                disk -> Commands.run("dd", "if=/dev/zero", "of=" + disk.folder().resolve("hog"), "bs=4096"),
                disk -> Files.delete(disk.folder().resolve("hog")));
    }

    @Test
    void aDiskThatFellIntoReadOnly() throws Exception {
        check(LoopDisk::failIntoReadOnly, disk -> {
            disk.unmount();
            disk.mount();
        });
    }
}
