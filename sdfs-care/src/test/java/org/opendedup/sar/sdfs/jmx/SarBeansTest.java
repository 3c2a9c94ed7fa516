package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.Notification;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.collect.FakeCollector;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.heal.FakeHeal;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.health.Facts;
import org.opendedup.sar.sdfs.health.HealthRules;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.jmx.SarAdministration.Way;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.join.FakeJoin;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.scrub.FakeScrub;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.ssd.SsdSize;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.slf4j.LoggerFactory;

class SarBeansTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
    private static final Path BASE = Path.of("/srv/pool0");

    private final VolumeDefinition definition = Definitions.withSsd("beans", BASE);
    private final FakeSar ssd =
            new FakeSar(BASE.resolve("ssd"), definition.sar().hot());
    private final List<SarSettings> kept = new ArrayList<>();
    private final FakeFastTier fastTier = new FakeFastTier();
    private SarAdministration administration;
    private final GarbageCollections collections = new GarbageCollections(
            "beans", new FakeCollector(), null, FakeCollector.recompress(), () -> {}, Clock.systemUTC());
    private final ScheduleTimer timer = ScheduleTimer.start(
            "the collection of garbage",
            () -> collections.start(Cause.SCHEDULE).isPresent(),
            Optional::empty,
            Schedule.parse(Schedule.OFF),
            Clock.systemUTC());
    private final Scrubs scrubs = new Scrubs("beans", new FakeScrub(), Clock.systemUTC());
    private final FakeJoin join = new FakeJoin();
    private final Joins joins = new Joins("beans", join, Clock.systemUTC());
    private final Heals heals = new Heals("beans", new FakeHeal(), Clock.systemUTC());
    private final VolumeChecks checks =
            new VolumeChecks("beans", progress -> new StoredVolume.Report(7, List.of()), Clock.systemUTC());
    private final FakeFiles files = new FakeFiles();
    private final AttendedJobs<DamageReport> lists = new AttendedJobs<>("beans", "list of damage");
    private DamageReport damage = new DamageReport(List.of(), List.of(), 0, 0, 0);
    private boolean unmounted;
    private VolumeRegistration registration;

    @BeforeEach
    void register() {
        var health = new HealthWatch<>(new Facts()::facts, HealthRules::findings);
        administration = new SarAdministration("beans", ssd, definition.sar(), kept::add, this::checkLocation);
        registration = VolumeRegistration.register("beans", beans -> {
            beans.volume(
                    VolumeFigures.of("beans", "/mnt", SarBeansTest::noFigures, SarBeansTest::noSpace, health),
                    () -> true,
                    () -> unmounted = true,
                    health,
                    digits -> new ChunkSearch.Found(List.of(), false));
            beans.sar(administration);
            beans.fastTier(fastTier::figures, fastTier);
            beans.files(files);
            var reads = new ReadLatencies();
            reads.begin();
            reads.waits(ReadLatencies.From.FAST_TIER);
            reads.end(System.nanoTime());
            beans.readLatencies(reads::counts);
            beans.collections(collections, timer);
            beans.scrubs(scrubs, timer);
            beans.heals(heals, List::of);
            beans.joins(joins);
            beans.checks(checks);
            beans.damagedFiles(lists, job -> damage);
            beans.jobs(List.of(scrubs, lists));
            beans.parameters();
            beans.history(Clock.systemUTC());
        });
    }

    private void checkLocation(Path location) {
        var unused = definition.withSar(definition.sar().withLocation(location));
    }

    @AfterEach
    void unregister() throws IOException {
        registration.close();
        timer.close();
        collections.close();
        scrubs.close();
        joins.close();
        heals.close();
        checks.close();
        lists.close();
    }

    @Test
    void everyAttributeOperationAndParameterHasADescriptionAndAUnit() throws Exception {
        Set<ObjectName> names = SERVER.queryNames(new ObjectName("org.opendedup.sar:*"), null);
        assertEquals(21, names.size(), names::toString);
        for (ObjectName name : names) {
            MBeanInfo info = SERVER.getMBeanInfo(name);
            assertTrue(info.getDescription().contains(" "), info.getDescription());
            for (MBeanAttributeInfo attribute : info.getAttributes()) {
                assertDescribed(name, attribute);
            }
            for (MBeanOperationInfo operation : info.getOperations()) {
                assertDescribed(name, operation);
                for (MBeanParameterInfo parameter : operation.getSignature()) {
                    assertDescribed(name, parameter);
                    assertFalse(parameter.getName().matches("p\\d+"), () -> operation + " " + parameter.getName());
                }
            }
        }
    }

    private static void assertDescribed(ObjectName bean, MBeanFeatureInfo feature) {
        String unit = (String) feature.getDescriptor().getFieldValue("units");
        assertNotNull(unit, () -> bean + " " + feature.getName() + " has no unit");
        String description = feature.getDescription();
        assertTrue(
                description.endsWith(" (" + unit + ")")
                        && description.length() > unit.length() + 10
                        && !description.contains("(null)"),
                () -> bean + " " + feature.getName() + ": " + description);
    }

    @Test
    void jobsOfAllKindsAreShownAlikeAndStopped() throws Exception {
        assertEquals(0, ((CompositeData[]) get("Jobs", "Latest")).length);
        var holds = new CountDownLatch(1);
        var begun = lists.start(Cause.JMX, job -> {
            while (true) {
                job.at("reading names", 3, 4);
                holds.countDown();
            }
        });
        assertTrue(begun.isPresent());
        holds.await();
        CompositeData job = ((CompositeData[]) get("Jobs", "Latest"))[0];
        assertEquals("list of damage", job.get("kind"));
        assertEquals("running", job.get("state"));
        assertEquals("reading names", job.get("step"));
        assertEquals(3L, job.get("done"));
        assertEquals(4L, job.get("of"));
        assertEquals(false, invoke("Jobs", "stop", "list of damage", 2L), "no such number");
        assertThrows(RuntimeMBeanException.class, () -> invoke("Jobs", "stop", "dance", 1L));
        assertEquals(true, invoke("Jobs", "stop", "list of damage", 1L));
        TestWait.until(
                () -> ((CompositeData[]) get("Jobs", "Latest"))[0].get("state").equals("stopped"));
        assertEquals(false, invoke("Jobs", "stop", "list of damage", 1L), "it has ended");
    }

    @Test
    void damagedFilesAreListedOnRequest() throws Exception {
        assertEquals("", get("DamagedFiles", "LastState"));
        damage = new DamageReport(
                List.of(),
                List.of(new DamageReport.FileDamage(
                        7, List.of("a\nb"), List.of(new DamageReport.DamagedRange(4096, 8192, 0)), 4096, 0)),
                2,
                9000,
                1);
        invoke("DamagedFiles", "start");
        TestWait.until(() -> get("DamagedFiles", "LastState").equals("done"));
        assertEquals(3L, get("DamagedFiles", "LastFiles"));
        assertEquals(9000L, get("DamagedFiles", "LastBytes"));
        CompositeData file = ((CompositeData[]) get("DamagedFiles", "LastList"))[0];
        assertEquals("a\\u000ab", file.get("paths"));
        assertEquals(4096L, file.get("firstOffset"));
    }

    @Test
    void theSettingsAreListedWithWhatIsAllowed() throws Exception {
        CompositeData[] all = (CompositeData[]) get("Parameters", "All");
        CompositeData threshold = Arrays.stream(all)
                .filter(one -> one.get("name").equals("ReferenceCountThreshold"))
                .findFirst()
                .orElseThrow();
        assertEquals("SelectivePromotion", threshold.get("bean"));
        assertEquals("5", threshold.get("value"));
        assertEquals("1", threshold.get("least"));
        assertTrue(Long.parseLong((String) threshold.get("most")) > 1000);
        assertEquals("references", threshold.get("unit"));
        assertEquals(
                Set.of(),
                Arrays.stream(all)
                        .filter(one -> one.get("type").equals("java.lang.String")
                                && one.get("name").equals("Policy")
                                && !one.get("choices").toString().contains("cost"))
                        .collect(Collectors.toSet()));
    }

    @Test
    void filesAndTheFastTierHaveOperations() throws Exception {
        assertEquals(7, ((long[]) ((CompositeData) invoke("Files", "explain", "a/b")).get("cells"))[3]);
        assertEquals(true, invoke("Files", "restore", "a", "/srv/a"));
        assertEquals(true, invoke("Files", "defragment", "b"));
        assertEquals(List.of("explain a/b", "restore a to /srv/a", "defragment b"), files.calls);
        assertEquals(true, invoke("FastTier", "migrate", "c"));
        assertEquals(true, invoke("FastTier", "attach", true));
        assertEquals(List.of("MIGRATE c", "attach true"), fastTier.calls);
        CompositeData reader = ((CompositeData[]) get("Streams", "Readers"))[0];
        assertEquals(42L, reader.get("inode"));
        assertEquals("assumed", get("Streams", "DiskSource"));
        assertEquals("lookahead", get("RestoreCache", "Policy"));
        assertEquals(true, invoke("Volume", "unmount"));
        assertTrue(unmounted);
    }

    @Test
    void readsAreCountedByTheirSlowestPlace() throws Exception {
        assertEquals(1L, get("ReadLatencies", "FromFastTierReads"));
        assertEquals(0L, get("ReadLatencies", "FromDiskReads"));
        assertEquals(0.0, get("ReadLatencies", "FromDiskMeanMicros"));
        assertTrue((double) get("ReadLatencies", "FromFastTierMeanMicros") > 0);
        long[] buckets = (long[]) get("ReadLatencies", "FromFastTierBuckets");
        assertEquals(1, Arrays.stream(buckets).sum());
        assertEquals(buckets.length - 1, ((long[]) get("ReadLatencies", "BucketBoundsMicros")).length);
    }

    @Test
    void everyAttributeCanBeRead() throws Exception {
        for (ObjectName name : SERVER.queryNames(new ObjectName("org.opendedup.sar:volume=beans,*"), null)) {
            for (MBeanAttributeInfo attribute : SERVER.getMBeanInfo(name).getAttributes()) {
                assertNotNull(SERVER.getAttribute(name, attribute.getName()), attribute::getName);
            }
        }
        assertEquals(24.0, get("MapTable", "BytesPerEntry"));
        assertEquals(36L, get("SelectivePromotion", "PromotedChunks"));
        assertEquals(90L, get("DataDemotion", "DemotedChunks"));
        assertEquals(20_000L, get("DataDistributor", "HomeLatencyP99Micros"));
        assertEquals("online", get("SsdLog", "State"));
        assertEquals("sar", get("FastTier", "Mode"));
        assertEquals("", get("FastTier", "Absent"), "the volume has none, which is no fault");
        assertEquals(7L, get("FastTier", "MigratedFiles"));
        assertEquals(false, get("FastTier", "RoomForNewFiles"));
    }

    @Test
    void theFastTierSaysWhyItIsAbsentAndWhatIsLost() throws Exception {
        fastTier.settings = new RawSettings(Placement.TDDFS, 1L << 30, 85, 70, 60);
        fastTier.absent = "no such folder";
        fastTier.lostFiles = 4;
        assertEquals("no such folder", get("FastTier", "Absent"));
        assertEquals(4L, get("FastTier", "LostFiles"));
        assertEquals(1L << 30, get("FastTier", "RawCapacityBytes"));
        assertEquals(60, get("FastTier", "JournalSeconds"));
    }

    @Test
    void aParameterThatIsSetActsAtOnceAndIsKept() throws Exception {
        set("SelectivePromotion", "ReferenceCountThreshold", 10);
        set("SelectivePromotion", "Policy", "cost");
        set("SelectivePromotion", "PromoteOnRead", false);
        set("SelectivePromotion", "Enabled", false);
        set("SelectivePromotion", "MaxRunBytes", 65_536);
        set("LruList", "LruEntries", 5);
        set("SsdLog", "CapacityBytes", 2L << 30);
        var expected = new HotSettings(false, 2L << 30, 10, 65_536, false, 5, HotSettings.Policy.COST);
        assertEquals(expected, ssd.status().settings());
        assertEquals(new SarSettings(BASE.resolve("ssd"), expected), kept.get(kept.size() - 1));
        assertEquals(10, get("SelectivePromotion", "ReferenceCountThreshold"));
    }

    @Test
    void aValueThatIsNotAllowedIsRefusedAndNothingChanges() {
        refuses("SelectivePromotion", "ReferenceCountThreshold", 0, "must be from 1");
        refuses("SelectivePromotion", "MaxRunBytes", -1, "-1; it must be from 1B to 1GB");
        refuses("SelectivePromotion", "Policy", "luck", "one of reference-count, cost, open");
        refuses("LruList", "LruEntries", -1, "must be from 0");
        refuses("SsdLog", "CapacityBytes", 0L, "at least 8MB");
        assertEquals(List.of(), ssd.events);
        assertEquals(List.of(), kept);
    }

    @Test
    void noPolicyAndNoLocationAreRefusedByName() {
        refuses("SelectivePromotion", "Policy", null, "policy: 'null' is not one of reference-count, cost, open");
        var e = assertThrows(RuntimeMBeanException.class, () -> invoke("SsdLog", "attach", (Object) null));
        assertTrue(e.getTargetException().getMessage().contains("name a folder"), e::toString);
        assertEquals(List.of(), ssd.events);
    }

    /** A value that the descriptor does not allow is refused; the message names the allowed values. */
    @Test
    void legalValuesStandInTheDescriptorsAndHold() throws Exception {
        int ranges = 0;
        int lists = 0;
        for (ObjectName name : SERVER.queryNames(new ObjectName("org.opendedup.sar:volume=beans,*"), null)) {
            for (MBeanAttributeInfo attribute : SERVER.getMBeanInfo(name).getAttributes()) {
                // GarbageCollectorBeanTest sets the compression, whose values are no range.
                if (!attribute.isWritable()
                        || attribute.getType().equals("boolean")
                        || attribute.getName().equals("Recompress")) {
                    continue;
                }
                if (attribute.getDescriptor().getFieldValue("legalValues") instanceof String[] values) {
                    assertEquals(List.of("reference-count", "cost", "open"), List.of(values));
                    for (String value : values) {
                        set(name.getKeyProperty("type"), attribute.getName(), value);
                    }
                    lists++;
                    continue;
                }
                if (attribute.getType().equals(String.class.getName())) {
                    assertEquals("Recompress", attribute.getName());
                    refuses(name.getKeyProperty("type"), attribute.getName(), "gzip", "zstd:");
                    continue;
                }
                long least = limit(attribute, "minValue");
                long most = limit(attribute, "maxValue");
                assertTrue(least < most, attribute::getName);
                boolean isCapacity = attribute.getName().equals("CapacityBytes");
                assertTrue(!isCapacity || least == SsdSize.leastCapacity(), attribute::getName);
                boolean isLong = attribute.getType().equals("long");
                for (long beyond : new long[] {least - 1, most + 1}) {
                    // Beyond the largest number of the type is the smallest.
                    Object value = isLong ? (Object) beyond : (Object) (int) beyond;
                    refuses(
                            name.getKeyProperty("type"),
                            attribute.getName(),
                            value,
                            isCapacity ? "at least 8MB" : " to " + (isMaxRun(attribute) ? ByteSize.exact(most) : most));
                }
                set(name.getKeyProperty("type"), attribute.getName(), isLong ? (Object) most : (Object) (int) most);
                ranges++;
            }
        }
        assertEquals(6, ranges);
        assertEquals(1, lists);
        MBeanOperationInfo[] operations = SERVER.getMBeanInfo(VolumeRegistration.sarName("DataDemotion", "beans"))
                .getOperations();
        MBeanParameterInfo references = Arrays.stream(operations)
                .flatMap(operation -> Arrays.stream(operation.getSignature()))
                .filter(parameter -> parameter.getName().equals("references"))
                .findFirst()
                .orElseThrow();
        assertEquals(1, limit(references, "minValue"));
    }

    private static boolean isMaxRun(MBeanAttributeInfo attribute) {
        return attribute.getName().equals("MaxRunBytes");
    }

    private static long limit(MBeanFeatureInfo feature, String field) {
        return Long.parseLong(String.valueOf(feature.getDescriptor().getFieldValue(field)));
    }

    @Test
    void eachChangeIsALineInTheLogWithOldAndNewValueAndTheWay() throws Exception {
        var lines = new ListAppender<ILoggingEvent>();
        lines.start();
        var logger = (ch.qos.logback.classic.Logger) LoggerFactory.getLogger(SarAdministration.class);
        logger.addAppender(lines);
        Level level = logger.getLevel();
        logger.setLevel(Level.INFO);
        try {
            int before = ssd.status().settings().referenceCountThreshold();
            set("SelectivePromotion", "ReferenceCountThreshold", 17);
            set("SelectivePromotion", "ReferenceCountThreshold", 17);
            assertThrows(Exception.class, () -> set("SelectivePromotion", "ReferenceCountThreshold", 0));
            administration.change(Way.SDFSCLI, Map.of("policy", "reference-count", "referenceCountThreshold", 3));
            administration.attach(Way.JMX, Path.of("/ssd/new"));
            assertEquals(
                    List.of(
                            "volume beans, by JMX: referenceCountThreshold changed from " + before + " to 17",
                            "volume beans, by sdfscli: referenceCountThreshold changed from 17 to 3",
                            "volume beans, by sdfscli: policy changed from cost to reference-count",
                            "volume beans, by JMX: SSD attached; its location changed from /srv/pool0/ssd to /ssd/new"),
                    lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
        } finally {
            logger.detachAppender(lines);
            logger.setLevel(level);
        }
    }

    @Test
    void whatTheSsdRefusesIsNotKept() {
        ssd.failure = new IOException("no space for the smaller log");
        var e = assertThrows(RuntimeMBeanException.class, () -> set("SsdLog", "CapacityBytes", 16L << 20));
        assertEquals(UncheckedIOException.class, e.getTargetException().getClass());
        assertEquals("no space for the smaller log", e.getTargetException().getMessage());
        assertEquals(List.of(), kept);
    }

    @Test
    void anOperationDemotes() throws Exception {
        invoke("DataDemotion", "demoteBelow", 8);
        invoke("DataDemotion", "demoteAll");
        var e = assertThrows(RuntimeMBeanException.class, () -> invoke("DataDemotion", "demoteBelow", 0));
        assertEquals(IllegalArgumentException.class, e.getTargetException().getClass());
        assertEquals(List.of("demote up to 7", "demote up to " + Integer.MAX_VALUE), ssd.events);
    }

    @Test
    void detachAndAttachAreToldByNotifications() throws Exception {
        ObjectName name = VolumeRegistration.sarName("SsdLog", "beans");
        var heard = new ArrayList<Notification>();
        SERVER.addNotificationListener(name, (notification, handback) -> heard.add(notification), null, null);
        assertEquals(1, SERVER.getMBeanInfo(name).getNotifications().length);
        invoke("SsdLog", "detach");
        assertEquals("detached", get("SsdLog", "State"));
        invoke("SsdLog", "attach", "");
        invoke("SsdLog", "attach", "/ssd/new");
        assertEquals(List.of("detach", "attach /srv/pool0/ssd", "attach /ssd/new"), ssd.events);
        assertEquals(Path.of("/ssd/new"), kept.get(0).ssdLocation());
        assertEquals(
                List.of("detached", "online", "online"),
                heard.stream().map(Notification::getUserData).toList());
        assertEquals("org.opendedup.sar.ssd.state", heard.get(0).getType());
        assertEquals(
                "the SSD was taken away; reads come from the disk", heard.get(0).getMessage());
        assertThrows(RuntimeMBeanException.class, () -> invoke("SsdLog", "attach", "relative"));
    }

    @Test
    void withoutAnSsdAllFiguresAreZero() {
        var settings = new HotSettings(false, 0, 5, 1, true, 0, HotSettings.Policy.COST);
        Map<String, Object> figures = Json.values(SarFigures.Summary.of(new SarWithoutSsd(settings).status()));
        assertEquals("none", figures.remove("state"));
        assertEquals(false, figures.remove("demotionRunning"));
        assertFalse(figures.isEmpty());
        figures.forEach((key, value) -> assertEquals(0L, value, key));
    }

    private static void refuses(String type, String attribute, @Nullable Object value, String why) {
        var e = assertThrows(RuntimeMBeanException.class, () -> set(type, attribute, value));
        assertTrue(e.getTargetException().getMessage().contains(why), e.getTargetException()::getMessage);
    }

    private static Object get(String type, String attribute) throws Exception {
        return SERVER.getAttribute(VolumeRegistration.sarName(type, "beans"), attribute);
    }

    private static @Nullable Object invoke(String type, String operation, @Nullable Object... arguments)
            throws Exception {
        ObjectName name = VolumeRegistration.sarName(type, "beans");
        String[] signature = Arrays.stream(SERVER.getMBeanInfo(name).getOperations())
                .filter(info -> info.getName().equals(operation))
                .flatMap(info -> Arrays.stream(info.getSignature()))
                .map(MBeanParameterInfo::getType)
                .toArray(String[]::new);
        return SERVER.invoke(name, operation, arguments, signature);
    }

    private static void set(String type, String attribute, @Nullable Object value) throws Exception {
        SERVER.setAttribute(VolumeRegistration.sarName(type, "beans"), new Attribute(attribute, value));
    }

    /** Of a volume of which only the SSD matters here. */
    private static VolumeStatistics noFigures() {
        return new VolumeStatistics(
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                new Quotas.Use(0, 0, 0),
                IndexUse.UNKNOWN);
    }

    private static SpaceUse noSpace() {
        return new SpaceUse(0, 0, 0, 0, 0);
    }
}
