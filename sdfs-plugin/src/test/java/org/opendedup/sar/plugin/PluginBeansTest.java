package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.Notification;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The MXBeans in SDFS's process: what they show, what they do, and when they are there. */
@Timeout(300)
class PluginBeansTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
    private static final int CHUNKS = 40;

    @TempDir
    Path folder;

    private final List<PluginEngine> open = new ArrayList<>();
    private final List<String> logged = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            logged.add(record.getLevel() + " " + record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    /** Held, because java.util.logging keeps loggers weakly. */
    private final Logger logger = Logger.getLogger("org.opendedup.sar");

    @BeforeEach
    void listen() {
        logger.addHandler(handler);
    }

    @AfterEach
    void close() throws IOException {
        logger.removeHandler(handler);
        for (PluginEngine engine : List.copyOf(open)) {
            close(engine);
        }
    }

    private PluginEngine open(String name, String attributes) throws IOException {
        PluginEngine engine =
                EngineLoader.open(Host.config(folder.resolve(name), "sar-name='" + name + "' " + attributes));
        open.add(engine);
        return engine;
    }

    private void close(PluginEngine engine) throws IOException {
        open.remove(engine);
        engine.close();
    }

    private long[] put(PluginEngine engine) throws IOException {
        return Chunk.put(CHUNKS, engine, folder.resolve("one"));
    }

    private static ObjectName bean(String type, String name) throws Exception {
        return new ObjectName("org.opendedup.sar:type=" + type + ",volume=" + name);
    }

    private static Object get(String type, String name, String attribute) throws Exception {
        return SERVER.getAttribute(bean(type, name), attribute);
    }

    private static Object call(String type, String name, String operation) throws Exception {
        return SERVER.invoke(bean(type, name), operation, new Object[0], new String[0]);
    }

    private static Set<String> types(String name) throws Exception {
        Set<String> types = new TreeSet<>();
        for (ObjectName found : SERVER.queryNames(new ObjectName("org.opendedup.sar:volume=" + name + ",*"), null)) {
            types.add(found.getKeyProperty("type"));
        }
        return types;
    }

    /** Something that JMX tells. */
    private interface Question {
        boolean isTrue() throws Exception;
    }

    private static void await(Question question) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!question.isTrue()) {
            assertTrue(System.nanoTime() - end < 0, "not within 60 s");
            Thread.sleep(10);
        }
    }

    @Test
    void everyBeanCanBeReadAndIsGoneAfterClosing() throws Exception {
        PluginEngine engine = open("one", "");
        put(engine);
        Set<String> expected = Set.of(
                "Volume",
                "GarbageCollector",
                "Scrub",
                "Heal",
                "Check",
                "MetadataBackup",
                "Settings",
                "Jobs",
                "Parameters",
                "History");
        assertEquals(new TreeSet<>(expected), types("one"));
        for (String type : expected) {
            for (MBeanAttributeInfo attribute :
                    SERVER.getMBeanInfo(bean(type, "one")).getAttributes()) {
                assertNotNull(get(type, "one", attribute.getName()), attribute::getName);
                String units = (String) attribute.getDescriptor().getFieldValue("units");
                assertNotNull(units, () -> type + " " + attribute.getName() + " has no unit");
            }
        }
        await(() -> get("Volume", "one", "Chunks").equals((long) CHUNKS));
        assertEquals("well", get("Volume", "one", "Health"));
        assertEquals(0, ((String[]) get("Volume", "one", "Findings")).length);
        assertEquals("every 30 days", get("Scrub", "one", "Schedule"));
        assertEquals("off", get("GarbageCollector", "one", "Schedule"));
        assertTrue(logged.contains("INFO the volume one is well"), logged::toString);
        close(engine);
        assertEquals(Set.of(), types("one"));
    }

    @Test
    void twoVolumesHaveTheirOwnBeans() throws Exception {
        PluginEngine one = open("one", "");
        PluginEngine two = open("two", "");
        put(two);
        await(() -> get("Volume", "two", "Chunks").equals((long) CHUNKS));
        assertEquals(0L, get("Volume", "one", "Chunks"));
        close(one);
        assertEquals(Set.of(), types("one"));
        assertEquals(10, types("two").size());
        call("Scrub", "two", "start");
        await(() -> !get("Scrub", "two", "LastEnded").equals(""));
    }

    @Test
    void aNameThatIsTakenIsNoReasonNotToMount() throws Exception {
        open("one", "");
        PluginEngine other = EngineLoader.open(Host.config(folder.resolve("other"), "sar-name='one'"));
        open.add(other);
        put(other);
        assertTrue(
                logged.stream().anyMatch(line -> line.contains("not in JMX")), "the log says why there are no figures");
        close(other);
        assertEquals(10, types("one").size(), "those of the first volume stay");
    }

    @Test
    void jobsAreStartedAndShown() throws Exception {
        PluginEngine engine = open("one", "sar-grace-period-minutes='0'");
        long[] locations = put(engine);
        call("Scrub", "one", "start");
        await(() -> !get("Scrub", "one", "LastEnded").equals(""));
        assertTrue((long) get("Scrub", "one", "LastBytes") > 0);
        assertEquals(0L, get("Scrub", "one", "LastDamagedFrames"));
        for (int number = 0; number < CHUNKS; number++) {
            engine.claim(Chunk.of(number).hash(), locations[number], -1);
        }
        engine.sync();
        HostMaps.delete(folder.resolve("one"), Chunk.FILE);
        call("GarbageCollector", "one", "start");
        await(() -> get("GarbageCollector", "one", "LastState").equals("done"));
        assertEquals("JMX", get("GarbageCollector", "one", "LastCause"));
        await(() -> get("Volume", "one", "GarbageChunks").equals(0L));
        engine.collect(true, (done, of) -> true);
        assertEquals("SDFS", get("GarbageCollector", "one", "LastCause"));
        call("Heal", "one", "start");
        await(() -> get("Heal", "one", "LastState").equals("done"));
        call("Check", "one", "start");
        await(() -> get("Check", "one", "LastState").equals("done"));
        assertArrayEquals(new String[0], (String[]) get("Check", "one", "LastFindings"));
        Object number = SERVER.invoke(
                bean("MetadataBackup", "one"),
                "backUpTo",
                new Object[] {folder.resolve("backups").toString()},
                new String[] {String.class.getName()});
        assertEquals(1L, number);
        assertTrue(Files.isDirectory(folder.resolve("backups")));
        Path among = folder.resolve("one/chunks/sar/data/mine");
        assertThrows(
                Exception.class,
                () -> SERVER.invoke(
                        bean("MetadataBackup", "one"), "backUpTo", new Object[] {among.toString()}, new String[] {
                            String.class.getName()
                        }));
        assertFalse(Files.exists(among), "among the volume's own files");
        assertFalse((boolean) call("Volume", "one", "resume"), "it accepts changes already");
    }

    @Test
    void damageIsShownWithARemedyAndGoneWhenTheContentIsWrittenAgain() throws Exception {
        PluginEngine engine = open("one", "");
        put(engine);
        close(engine);
        DamagedPacks.make(folder.resolve("one/chunks/sar/data"));
        engine = open("one", "");
        List<Notification> heard = new CopyOnWriteArrayList<>();
        NotificationListener listener = (notification, handback) -> heard.add(notification);
        SERVER.addNotificationListener(bean("Volume", "one"), listener, null, null);
        assertEquals("well", get("Volume", "one", "Health"), "control: nobody has read it yet");
        call("Scrub", "one", "start");
        await(() -> !get("Scrub", "one", "LastEnded").equals(""));
        await(() -> get("Volume", "one", "Health").equals("damaged"));
        String finding = ((String[]) get("Volume", "one", "Findings"))[0];
        assertTrue(finding.contains("listDamage of org.opendedup.sar:type=Heal,volume=one"), finding);
        assertTrue(((String[]) call("Heal", "one", "listDamage")).length > 0);
        await(() -> heard.stream().anyMatch(one -> one.getType().equals("org.opendedup.sar.volume.damage")));
        assertTrue(
                logged.stream().anyMatch(line -> line.startsWith("SEVERE") && line.contains("written again")),
                "the log says what to do");
        close(engine);
        logged.clear();
        engine = open("one", "");
        assertTrue(
                logged.stream()
                        .anyMatch(line -> line.startsWith(Level.SEVERE + " the volume one is damaged")
                                && line.contains("type=Heal")),
                logged::toString);
        put(engine);
        call("Heal", "one", "start");
        await(() -> get("Heal", "one", "DamagedChunks").equals(0L));
        await(() -> get("Volume", "one", "Health").equals("well"));
        assertEquals(0, ((String[]) call("Heal", "one", "listDamage")).length);
    }

    @Test
    void aCloseThatIsInterruptedEndsAllJobs() throws Exception {
        PluginEngine engine = open("one", "");
        put(engine);
        call("Scrub", "one", "start");
        await(() -> !get("Scrub", "one", "LastEnded").equals(""));
        assertEquals(1, timersOfBackups(), "the control");
        Thread.currentThread().interrupt();
        assertThrows(IOException.class, () -> close(engine));
        assertTrue(Thread.interrupted(), "whoever interrupted it is to know");
        await(() -> timersOfBackups() == 0);
        put(open("one", ""));
    }

    private static long timersOfBackups() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("sdfs-metadata-backup"))
                .count();
    }

    /** What SDFS counted since a backup is in no other: the next one must not lack it. */
    @Test
    void eachUnmountAfterAChangeMakesABackup() throws Exception {
        PluginEngine engine = open("one", "");
        put(engine);
        close(engine);
        engine = open("one", "");
        int before = ((String[]) get("MetadataBackup", "one", "Backups")).length;
        assertTrue(before > 0);
        engine.claim(Chunk.of(0).hash(), 0, 1);
        close(engine);
        open("one", "");
        assertEquals(before + 1, ((String[]) get("MetadataBackup", "one", "Backups")).length);
    }

    @Test
    void wrongSettingsAreRefused() {
        for (String wrong : List.of(
                "sar-scrub-interval-days='-1'",
                "sar-scrub-interval-days='monthly'",
                "sar-metadata-backup-interval='6 hours'",
                "sar-metadata-backups-kept='0'")) {
            IOException refused = assertThrows(IOException.class, () -> open("wrong", wrong), wrong);
            assertTrue(refused.getMessage().contains(wrong.substring(0, wrong.indexOf('='))), refused.getMessage());
        }
        assertFalse(Files.exists(folder.resolve("wrong")), "nothing was made");
    }
}
