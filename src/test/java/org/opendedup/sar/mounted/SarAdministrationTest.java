package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.Notification;
import javax.management.RuntimeMBeanException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** The SSD of a mounted volume, administered by a JMX client and by the commands. */
class SarAdministrationTest {
    private static final int ENOUGH = SharedFiles.SHARED / 2;
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    Path folder;

    @Test
    void aThresholdSetByJmxDemotesAndIsKept() throws Exception {
        try (MountedVolume volume = SharedFiles.makeWithSsd(folder).mount()) {
            SharedFiles.write(volume);
            try (JmxClient jmx = new JmxClient(volume)) {
                demoteByThreshold(volume, jmx);
            }
            SharedFiles.assertReads(volume);
            volume.remount();
            assertEquals(1000, volume.figure("info", "referenceCountThreshold"));
            SharedFiles.assertReads(volume);
        }
    }

    private static void demoteByThreshold(MountedVolume volume, JmxClient jmx) throws Exception {
        awaitEntries(jmx, ENOUGH, Integer.MAX_VALUE);
        assertThrows(RuntimeMBeanException.class, () -> setThreshold(jmx, 0));

        setThreshold(jmx, 1000);

        awaitEntries(jmx, 0, 0);
        long demoted = (long) jmx.get("DataDemotion", "DemotedBySettings");
        assertTrue(demoted >= ENOUGH, () -> demoted + " chunks demoted");
        assertEquals(0, volume.figure("stats", "mapTableEntries"));
        assertTrue(volume.figure("stats", "demotedChunks") >= demoted);
    }

    @Test
    void theSsdIsTakenAwayAndBroughtBackWhileFilesAreRead() throws Exception {
        try (MountedVolume volume = SharedFiles.makeWithSsd(folder).mount();
                JmxClient jmx = new JmxClient(volume)) {
            SharedFiles.write(volume);
            awaitEntries(jmx, ENOUGH, Integer.MAX_VALUE);
            BlockingQueue<Notification> heard = jmx.listen();

            sar(volume, "detach");
            assertEquals("detached", next(heard).getUserData());
            SharedFiles.assertReads(volume);
            sar(volume, "attach");
            assertEquals("online", next(heard).getUserData());
            SharedFiles.assertReads(volume);
            String explained =
                    sar(volume, "explain", SharedFiles.path(volume, 1).toString());
            assertTrue(explained.contains("on-ssd"), explained);
            assertTrue((long) jmx.get("MapTable", "Entries") >= ENOUGH);
        }
    }

    /** Of a daemon in a process of its own, which the JMX client enters from outside. */
    @Test
    void theSsdServesItsChunksImmediatelyAfterAKillAndAfterAnUnmount() throws Exception {
        try (MountedVolume volume =
                SharedFiles.makeWithSsd(folder).inItsOwnProcess().mount()) {
            SharedFiles.write(volume);
            Bytes.writeAndSync(volume.mountPoint().resolve("shared"), SharedFiles.shared());
            try (JmxClient jmx = new JmxClient(volume)) {
                awaitEntries(jmx, SharedFiles.SHARED, SharedFiles.SHARED);
            }
            volume.kill();
            volume.mount();
            assertIsWarm(volume);
            volume.remount();
            assertIsWarm(volume);
        }
    }

    private static void assertIsWarm(MountedVolume volume) throws IOException {
        assertEquals(SharedFiles.SHARED, volume.figure("stats", "mapTableEntries"));
        Path all = volume.mountPoint().resolve("shared");
        assertEquals(new Bytes.Comparison(SharedFiles.SHARED, 0, 0), Bytes.compare(all, SharedFiles.shared()));
        assertTrue(volume.figure("stats", "ssdHits") > 0, "nothing was read from the SSD");
        assertEquals(0, volume.figure("stats", "promotedChunks"));
        SharedFiles.assertReads(volume);
    }

    private static void setThreshold(JmxClient jmx, int threshold) throws Exception {
        jmx.set("SelectivePromotion", "ReferenceCountThreshold", threshold);
    }

    private static void awaitEntries(JmxClient jmx, long least, long most) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (true) {
            long entries = (long) jmx.get("MapTable", "Entries");
            if (entries >= least && entries <= most) {
                return;
            }
            assertTrue(System.nanoTime() < deadline, () -> entries + " entries, not " + least + " to " + most);
            Thread.sleep(50);
        }
    }

    private static Notification next(BlockingQueue<Notification> heard) throws InterruptedException {
        Notification notification = heard.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertTrue(notification != null, "no notification came");
        return notification;
    }

    private static String sar(MountedVolume volume, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(volume.name(), "sar"));
        all.addAll(List.of(arguments));
        Commands.Result result = volume.script("sdfscli", all);
        assertEquals(0, result.exitCode(), result::output);
        return result.output();
    }
}
