package org.opendedup.sar.sdfs.wear;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.AtomicFile;

@Timeout(30)
class SsdWearTest {
    @TempDir
    Path folder;

    private Instant now = Instant.parse("2026-11-29T23:50:00Z");
    private final AtomicLong written = new AtomicLong();

    private final Clock clock = new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    };

    private SsdWear mount() {
        return mount(AtomicFile::write);
    }

    private SsdWear mount(SsdWear.Keeper keeper) {
        written.set(0);
        return new SsdWear(
                folder.resolve("wear"), keeper, written::get, () -> folder, clock, new DeviceWear(device -> "{}"));
    }

    @Test
    void bytesCountADayAndInTotalOverMounts() throws IOException {
        try (SsdWear first = mount()) {
            written.set(700);
            assertEquals(700, first.figures().writtenTodayBytes());
            now = now.plus(Duration.ofMinutes(20));
            written.set(1000);
            assertEquals(300, first.figures().writtenTodayBytes());
            assertEquals(700, first.figures().writtenPerDayBytes());
            assertEquals(1000, first.figures().writtenBytes());
            written.set(1050);
        }
        now = now.plus(Duration.ofDays(1));
        try (SsdWear second = mount()) {
            written.set(7);
            WearFigures figures = second.figures();
            assertEquals(1057, figures.writtenBytes());
            assertEquals(7, figures.writtenTodayBytes());
            assertEquals((700 + 350) / 2, figures.writtenPerDayBytes());
        }
        now = now.plus(Duration.ofDays(100));
        try (SsdWear third = mount()) {
            assertEquals(0, third.figures().writtenPerDayBytes(), "days without writes count");
            assertEquals(1057, third.figures().writtenBytes());
            written.set(1);
            third.figures();
        }
        assertEquals(1, Files.readString(folder.resolve("wear")).split("20..-..-..").length - 1, "old days go");
    }

    @Test
    void figuresDoNotWaitForADiskThatHangs() throws Exception {
        var begun = new CountDownLatch(1);
        var diskAnswers = new CountDownLatch(1);
        SsdWear wear = mount((file, content) -> {
            begun.countDown();
            try {
                diskAnswers.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            AtomicFile.write(file, content);
        });
        written.set(5);
        Thread closing = new Thread(wear::close);
        closing.start();
        begun.await();
        written.set(8);
        // With the file under the same lock, this waits until the time limit of the test.
        assertEquals(8, wear.figures().writtenBytes());
        diskAnswers.countDown();
        closing.join();
        try (SsdWear next = mount()) {
            assertEquals(5, next.figures().writtenBytes(), "one moment is kept");
        }
    }

    /** A process that ends when the test says so, and not when it is killed. */
    private static final class HangingProcess extends Process {
        private boolean ended;

        @Override
        public OutputStream getOutputStream() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public InputStream getInputStream() {
            return InputStream.nullInputStream();
        }

        @Override
        public InputStream getErrorStream() {
            return InputStream.nullInputStream();
        }

        @Override
        public int waitFor() {
            throw new AssertionError("waits without a limit");
        }

        @Override
        public boolean waitFor(long timeout, TimeUnit unit) {
            return ended;
        }

        @Override
        public int exitValue() {
            if (!ended) {
                throw new IllegalThreadStateException();
            }
            return 0;
        }

        @Override
        public void destroy() {}

        @Override
        public long pid() {
            return 4711;
        }
    }

    @Test
    void oneSmartctlIsLeftAtMost() throws IOException {
        var started = new ArrayList<HangingProcess>();
        var smartctl = new Smartctl(
                (device, output) -> {
                    started.add(new HangingProcess());
                    return started.get(started.size() - 1);
                },
                Duration.ofSeconds(20));
        for (String reason : List.of("did not end within 20 s; does sdx hang", "process 4711,", "process 4711,")) {
            String said =
                    assertThrows(IOException.class, () -> smartctl.ask("sdx")).getMessage();
            assertTrue(said.contains(reason), said);
        }
        assertEquals(1, started.size());
        started.get(0).ended = true;
        assertThrows(IOException.class, () -> smartctl.ask("sdx"));
        assertEquals(2, started.size(), "the control: when it has ended, the device is asked again");
    }

    @Test
    void aDamagedFileIsNoObstacle() throws IOException {
        Files.writeString(folder.resolve("wear"), "{\"totalBytes\":5,\"da");
        try (SsdWear wear = mount()) {
            written.set(3);
            assertEquals(3, wear.figures().writtenBytes());
        }
        try (SsdWear wear = mount()) {
            assertEquals(3, wear.figures().writtenBytes());
        }
    }

    @Test
    void devicesTellTheirWearInDifferentWords() {
        assertEquals(0.07, used("{\"nvme_smart_health_information_log\":{\"percentage_used\":7}}"));
        assertEquals(1.2, used("{\"endurance_used\":{\"current_percent\":120}}"));
        assertEquals(
                0.12,
                used(
                        "{\"ata_smart_attributes\":{\"table\":[{\"id\":5,\"name\":\"Reallocated_Sector_Ct\",\"value\":100},"
                                + "{\"id\":177,\"name\":\"Wear_Leveling_Count\",\"value\":88}]}}"),
                1e-9);
        assertEquals(0.3, DeviceWear.ofEmmc("0x02 0x03\n").orElseThrow(), 1e-9);
        assertTrue(DeviceWear.ofEmmc("0x00 0x00\n").isEmpty());
    }

    private static double used(String json) {
        return new DeviceWear(device -> json).of(List.of("nvme9n1")).used();
    }

    @Test
    void theMostWornDeviceCountsAndAnUnknownOneIsSaid() {
        var wear = new DeviceWear(device -> {
            if (device.equals("sdx")) {
                throw new IOException("smartctl is not installed");
            }
            return device.equals("sdy") ? "{}" : "{\"endurance_used\":{\"current_percent\":" + device.length() + "0}}";
        });
        assertEquals(0.4, wear.of(List.of("abc", "abcd", "ab")).used(), 1e-9);
        assertEquals("smartctl is not installed", wear.of(List.of("abc", "sdx")).unknown());
        assertEquals("sdy does not tell it", wear.of(List.of("sdy")).unknown());
        assertEquals(
                "smartctl says: /dev/vda: Unable to detect device type",
                new DeviceWear(device -> "{\"smartctl\":{\"messages\":[{\"string\":\"/dev/vda: Unable to detect"
                                + " device type\",\"severity\":\"error\"}],\"exit_status\":1}}")
                        .of(List.of("vda"))
                        .unknown());
        String forbidden = new DeviceWear(device -> "{\"smartctl\":{\"messages\":[{\"string\":\"Smartctl open device:"
                        + " /dev/sda failed: Operation not permitted\",\"severity\":\"error\"}],\"exit_status\":2}}")
                .of(List.of("sda"))
                .unknown();
        assertTrue(
                forbidden.endsWith("; allow the device to the unit, as docs/operations/monitoring.md says"), forbidden);
        assertNull(wear.of(List.of("abc", "sdx")).used());
        assertNull(wear.of(List.of()).used());
    }

    @Test
    void whatCannotBeAskedIsSaidInTheFigures() throws IOException {
        try (SsdWear wear = mount()) {
            wear.askDevices();
            assertNull(wear.figures().wearRatio());
            assertTrue(!wear.figures().wearUnknown().isEmpty());
        }
    }
}
