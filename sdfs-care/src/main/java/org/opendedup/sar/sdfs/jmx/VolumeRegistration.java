package org.opendedup.sar.sdfs.jmx;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.LatencyBuckets;
import org.opendedup.sar.restore.frame.ReadLatencies.From;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.care.NewDamageListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The beans of a volume on the platform's MBean server, from {@link #register} to {@link #close}. Which of them a
 * volume has depends on the process: mount.sdfs has those of files as well, an SDFS with the plugin those of chunks.
 */
public final class VolumeRegistration implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeRegistration.class);

    /** Domain of the names of all beans. */
    public static final String DOMAIN = "org.opendedup.sar";

    /** Figures of which the course is kept, where the volume has them, by the kinds of their beans. */
    private static final Map<String, List<String>> COURSES = new TreeMap<>(Map.of(
            "Volume",
            List.of(
                    "LogicalBytes",
                    "UniqueBytes",
                    "StoredBytes",
                    "ReclaimableBytes",
                    "DeviceFreeBytes",
                    "ReadBytes",
                    "WrittenBytes",
                    "DuplicateBytes",
                    "DiskReads",
                    "DiskReadBytes",
                    "CacheHits",
                    "CacheMisses",
                    "RssBytes"),
            "DataDistributor",
            List.of(
                    "MemoryHits",
                    "SsdHits",
                    "SsdBytes",
                    "HomeReads",
                    "HomeBytes",
                    "SsdLatencyReads",
                    "SsdLatencyMeanMicros",
                    "HomeLatencyReads",
                    "HomeLatencyMeanMicros"),
            "ReadLatencies",
            List.of(
                    "FromMemoryReads",
                    "FromMemoryMeanMicros",
                    "FromFastTierReads",
                    "FromFastTierMeanMicros",
                    "FromSsdReads",
                    "FromSsdMeanMicros",
                    "FromAheadReads",
                    "FromAheadMeanMicros",
                    "FromDiskReads",
                    "FromDiskMeanMicros"),
            "SelectivePromotion",
            List.of("PromotedChunks"),
            "MapTable",
            List.of("Entries")));

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final List<ObjectName> registered = new ArrayList<>();
    private final Map<String, RecordBean> byKind = new HashMap<>();
    private final String volume;
    private final HealthNotifications notifications;
    private @Nullable History history;

    private VolumeRegistration(String volume) {
        this.volume = volume;
        notifications = new HealthNotifications(objectName(volume));
    }

    /**
     * Registers the beans of a volume: all of them or none.
     *
     * @param volume name of the volume
     * @param beans adds them
     * @throws IllegalStateException if one of these names is already registered in this process
     * @throws IllegalArgumentException if the name is not possible in JMX
     */
    public static VolumeRegistration register(String volume, Consumer<VolumeRegistration> beans) {
        var registration = new VolumeRegistration(volume);
        try {
            beans.accept(registration);
            return registration;
        } catch (RuntimeException e) {
            registration.close();
            throw e;
        }
    }

    /** Returns what sends notifications of the volume when damage is found, and when none is left. */
    public NewDamageListener damageListener() {
        return notifications;
    }

    /**
     * Adds the figures of a volume of files, which also send notifications of its health.
     *
     * @param resume makes the volume accept changes again; returns whether it accepted none
     * @param unmount unmounts it; returns when programs cannot use it any more
     */
    public void volume(
            Supplier<VolumeFigures> figures,
            Beans.Call<Boolean> resume,
            Beans.Call<Boolean> unmount,
            HealthWatch<?> health,
            ChunkFigures.Search chunks) {
        var bean = new RecordBean("A mounted volume", notifications)
                .figures(VolumeFigures.class, figures)
                .operation(
                        boolean.class,
                        "unmount",
                        "Unmounts the volume, which then is closed; fails if programs use it. Returns true",
                        "true",
                        List.of(),
                        arguments -> Beans.call(unmount));
        addResume(bean, resume);
        addSearch(bean, chunks);
        add("Volume", bean);
        health.listen(notifications::send);
    }

    /**
     * Adds the figures of a volume of chunks, which also send notifications of its health.
     *
     * @param resume makes the volume accept changes again; returns whether it accepted none
     */
    public void chunkVolume(
            Supplier<StoreFigures> figures,
            Beans.Call<Boolean> resume,
            HealthWatch<?> health,
            ChunkFigures.Search chunks) {
        var bean = new RecordBean("A volume of chunks: the chunk store of an SDFS volume", notifications)
                .figures(StoreFigures.class, figures);
        addResume(bean, resume);
        addSearch(bean, chunks);
        add("Volume", bean);
        health.listen(notifications::send);
    }

    private static void addResume(RecordBean bean, Beans.Call<Boolean> resume) {
        bean.operation(
                boolean.class,
                "resume",
                "Makes the volume accept changes again, after a failed write of which the cause is removed; returns"
                        + " false if it accepted them",
                "true or false",
                List.of(),
                arguments -> Beans.call(resume));
    }

    private static void addSearch(RecordBean bean, ChunkFigures.Search chunks) {
        bean.operation(
                RecordBean.Effect.LOOKS,
                CompositeData[].class,
                "findChunk",
                "Finds stored chunks by their fingerprint: count of references, place, length, whether on the SSD, "
                        + "damage",
                "chunks",
                List.of(new RecordBean.Parameter(
                        String.class,
                        "fingerprint",
                        "The fingerprint of a chunk, or its first digits, of which up to " + ChunkSearch.MOST
                                + " chunks are returned: give more digits if there are as many; "
                                + "an index of class chunkstash or silo needs all digits",
                        "hexadecimal digits",
                        RecordBean.Limits.NONE)),
                arguments -> Beans.call(() -> Composite.all(
                        "HashChunk",
                        "A stored chunk with its reference count",
                        chunks.find(String.valueOf(arguments[0])).chunks().stream()
                                .map(ChunkFigures::of)
                                .toList())));
    }

    /** @param figures looks at all raw files */
    public void fastTier(Beans.Call<FastTierFigures> figures, TierWork work) {
        add("FastTier", FileBeans.fastTier(figures, work));
    }

    /** Adds what is known of the object store of a volume. */
    public void objectStore(Beans.Call<ObjectStoreFigures> figures) {
        add(
                "ObjectStore",
                new RecordBean("The object store of the volume: what is not there yet, requests, costs")
                        .figures(ObjectStoreFigures.class, new Recent<>(Duration.ofSeconds(1), figures)));
    }

    /** Adds what JMX shows of files and their readers. */
    public void files(FileCare files) {
        add("Files", FileBeans.files(files));
        add("Streams", FileBeans.streams(files));
        add("RestoreCache", FileBeans.restoreCache(files));
    }

    /** @param sample returns how long the reads of programs took since the mount, of all places */
    public void readLatencies(Beans.Call<Map<From, LatencyBuckets.Counts>> sample) {
        add("ReadLatencies", FileBeans.readLatencies(sample));
    }

    /** Adds the jobs of all kinds. */
    public void jobs(List<? extends Jobs<?>> kinds) {
        add("Jobs", JobBeans.all(kinds));
    }

    /** @param list makes a list of the damaged files */
    public void damagedFiles(AttendedJobs<DamageReport> lists, RunningJob.Work<DamageReport> list) {
        add("DamagedFiles", JobBeans.damagedFiles(lists, list));
    }

    /** Adds the settings of all beans that were added before, with what is allowed. */
    public void parameters() {
        var all = new TreeMap<>(byKind);
        add(
                "Parameters",
                new RecordBean("What can be changed while the volume is mounted: attributes of the other beans")
                        .attribute(
                                CompositeData[].class,
                                "All",
                                "The settings, with their values and what is allowed",
                                "settings",
                                () -> Composite.all(
                                        "Setting",
                                        "A setting",
                                        all.entrySet().stream()
                                                .flatMap(one -> one.getValue().settings(one.getKey()).stream())
                                                .toList())));
    }

    /** Begins to keep the course of figures of the beans that were added before, and adds it. */
    public void history(Clock clock) {
        List<History.Series> series = new ArrayList<>();
        COURSES.forEach((kind, names) -> {
            RecordBean bean = byKind.get(kind);
            if (bean != null) {
                names.stream().filter(bean::hasAttribute).forEach(name -> series.add(new History.Series(bean, name)));
            }
        });
        var begun = new History(series, clock);
        add("History", begun.bean());
        begun.start();
        history = begun;
    }

    public void collections(GarbageCollections collections, StartTimes times) {
        add("GarbageCollector", JobBeans.collections(collections, times));
    }

    public void scrubs(Scrubs scrubs, StartTimes times) {
        add("Scrub", JobBeans.scrubs(scrubs, times));
    }

    public void heals(Heals heals, Beans.Call<List<Fault>> damage) {
        add("Heal", JobBeans.heals(heals, damage));
    }

    public void joins(Joins joins) {
        add("ExactPass", JobBeans.joins(joins));
    }

    public void checks(VolumeChecks checks) {
        add("Check", JobBeans.checks(checks));
    }

    /** @param data the data location */
    public void backups(MetadataBackups backups, MetadataBackups.Copies copies, Path data) {
        add("MetadataBackup", JobBeans.backups(backups, copies, data));
    }

    /** Adds the settings with which the volume was mounted: the texts that the volume file takes; empty: none. */
    public void settings(List<VolumeOption<?>> options, OptionValues values) {
        var bean = new RecordBean("Settings with which the volume was mounted, as the volume file has them");
        for (VolumeOption<?> option : options) {
            String name = RecordBean.capitalized(option.part()) + RecordBean.capitalized(option.key());
            if (option == VolumeOptions.COMPRESSION && values.isSet(option)) {
                name = "Compression"; // Reports have it from the options that it decides.
            }
            if (!name.isEmpty()) {
                bean.attribute(
                        String.class,
                        name,
                        option.text().replaceFirst("\\.$", ""),
                        option.label(),
                        () -> Objects.requireNonNullElse(values.text(option), ""));
            }
        }
        add("Settings", bean);
    }

    /** Adds the beans of the SSD. */
    public void sar(SarAdministration sar) {
        var beans = new SarBeans(sar);
        add("SelectivePromotion", beans.promotion());
        add("DataDemotion", beans.demotion());
        add("MapTable", beans.mapTable());
        add("DataDistributor", beans.distributor());
        add("LruList", beans.lruList());
        var ofState = new StateNotifications(objectName("SsdLog", volume));
        add("SsdLog", beans.log(ofState));
        sar.listen(ofState::send);
    }

    /** Adds a bean: {@code org.opendedup.sar:type=<kind>,volume=<volume>}. */
    public void add(String kind, RecordBean bean) {
        add(objectName(kind, volume), bean);
        byKind.put(kind, bean);
    }

    private void add(ObjectName name, Object bean) {
        try {
            server.registerMBean(bean, name);
            registered.add(name);
        } catch (InstanceAlreadyExistsException e) {
            throw new IllegalStateException(name + " is registered already", e);
        } catch (JMException e) {
            throw new IllegalStateException(name + " cannot be registered", e);
        }
    }

    /** Returns the JMX name of a volume. */
    public static ObjectName objectName(String volume) {
        return objectName("Volume", volume);
    }

    /** Returns the JMX name of a part of SAR. */
    public static ObjectName sarName(String type, String volume) {
        return objectName(type, volume);
    }

    private static ObjectName objectName(String type, String volume) {
        try {
            return new ObjectName(DOMAIN + ":type=" + type + ",volume=" + volume);
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException("'" + volume + "' is no volume name", e);
        }
    }

    /** Removes the volume from the server. Idempotent. */
    @Override
    public void close() {
        if (history != null) {
            history.close();
        }
        for (ObjectName name : registered) {
            try {
                server.unregisterMBean(name);
            } catch (InstanceNotFoundException e) {
                LOG.debug("{} was taken off by another thread", name, e);
            } catch (JMException e) {
                LOG.warn("{} cannot be taken off the MBean server", name, e);
            }
        }
        registered.clear();
    }
}
