package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.tools.attach.VirtualMachine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.Attribute;
import javax.management.MBeanServerConnection;
import javax.management.Notification;
import javax.management.RuntimeMBeanException;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;

/** The SSD of a mounted volume, steered by a JMX client and by the commands. */
class SarAdministrationTest {
    private static final int CHUNK = 4096;
    private static final int SHARED = 64;
    private static final int FILES = 6;
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    Path folder;

    @Test
    void aThresholdSetByJmxDemotesAndIsKept() throws Exception {
        try (MountedVolume volume = mountWithSsd()) {
            writeSharedChunks(volume);
            try (JMXConnector connector = connect(volume)) {
                demoteByThreshold(volume, connector.getMBeanServerConnection());
            }
            assertReads(volume);
            volume.remount();
            assertEquals(1000, volume.figure("info", "referenceCountThreshold"));
            assertReads(volume);
        }
    }

    private static void demoteByThreshold(MountedVolume volume, MBeanServerConnection server) throws Exception {
        awaitEntries(volume, server, SHARED / 2, Integer.MAX_VALUE);
        assertThrows(RuntimeMBeanException.class, () -> setThreshold(volume, server, 0));

        setThreshold(volume, server, 1000);

        awaitEntries(volume, server, 0, 0);
        long demoted = (long) get(volume, server, "DataDemotion", "DemotedBySettings");
        assertTrue(demoted >= SHARED / 2, () -> demoted + " chunks demoted");
        assertEquals(0, volume.figure("stats", "mapTableEntries"));
        assertTrue(volume.figure("stats", "demotedChunks") >= demoted);
    }

    @Test
    void theSsdIsTakenAwayAndBroughtBackWhileFilesAreRead() throws Exception {
        try (MountedVolume volume = mountWithSsd();
                JMXConnector connector = connect(volume)) {
            writeSharedChunks(volume);
            MBeanServerConnection server = connector.getMBeanServerConnection();
            awaitEntries(volume, server, SHARED / 2, Integer.MAX_VALUE);
            BlockingQueue<Notification> heard = new LinkedBlockingQueue<>();
            server.addNotificationListener(
                    VolumeRegistration.sarName("SsdLog", volume.name()),
                    (notification, handback) -> heard.add(notification),
                    null,
                    null);

            sar(volume, "detach");
            assertEquals("detached", next(heard).getUserData());
            assertReads(volume);
            sar(volume, "attach");
            assertEquals("online", next(heard).getUserData());
            assertReads(volume);
            String explained =
                    sar(volume, "explain", volume.mountPoint().resolve("file1").toString());
            assertTrue(explained.contains("on-ssd"), explained);
            assertTrue((long) get(volume, server, "MapTable", "Entries") >= SHARED / 2);
        }
    }

    private MountedVolume mountWithSsd() throws IOException {
        Path made = Files.createDirectory(folder.resolve("with-ssd"));
        return MountedVolume.makeWith(
                        made,
                        "--hash-type=SHA256",
                        "--sar-ssd-location=" + made.resolve("ssd"),
                        "--sar-ssd-capacity=256MB",
                        "--sar-policy=reference-count",
                        "--sar-reference-count-threshold=2")
                .mount();
    }

    /** Files that share chunks, with a chunk of their own after each: so that no run is long. */
    private static void writeSharedChunks(MountedVolume volume) throws IOException {
        for (int file = 0; file < FILES; file++) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file" + file), content(file));
        }
    }

    private static byte[] content(int file) {
        byte[] shared = Bytes.random(1, SHARED * CHUNK);
        byte[] own = Bytes.random(2 + file, SHARED * CHUNK);
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (int at = 0; at < shared.length; at += CHUNK) {
            content.write(shared, at, CHUNK);
            content.write(own, at, CHUNK);
        }
        return content.toByteArray();
    }

    private static void assertReads(MountedVolume volume) throws IOException {
        MountedVolume.dropKernelCaches();
        for (int file = 0; file < FILES; file++) {
            Bytes.Comparison compared = Bytes.compare(volume.mountPoint().resolve("file" + file), content(file));
            assertEquals(new Bytes.Comparison(2 * SHARED, 0, 0), compared);
        }
    }

    /** By the connector that the JDK opens in the daemon for its own user; nothing listens on the network. */
    @SuppressWarnings("BanJNDI") // the address comes from the JDK, and has no JNDI name in it
    private static JMXConnector connect(MountedVolume volume) throws Exception {
        VirtualMachine daemon = VirtualMachine.attach(Long.toString(volume.figure("info", "pid")));
        try {
            return JMXConnectorFactory.connect(new JMXServiceURL(daemon.startLocalManagementAgent()));
        } finally {
            daemon.detach();
        }
    }

    private static void setThreshold(MountedVolume volume, MBeanServerConnection server, int threshold)
            throws Exception {
        server.setAttribute(
                VolumeRegistration.sarName("SelectivePromotion", volume.name()),
                new Attribute("ReferenceCountThreshold", threshold));
    }

    private static Object get(MountedVolume volume, MBeanServerConnection server, String type, String attribute)
            throws Exception {
        return server.getAttribute(VolumeRegistration.sarName(type, volume.name()), attribute);
    }

    private static void awaitEntries(MountedVolume volume, MBeanServerConnection server, long least, long most)
            throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (true) {
            long entries = (long) get(volume, server, "MapTable", "Entries");
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
