package org.opendedup.sar.sdfs.jmx;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.NotificationBroadcasterSupport;
import javax.management.NotificationEmitter;
import javax.management.ObjectName;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registration of a volume, its SSD, its fast tier, its garbage collector, its scrubs and its exact passes on the
 * platform's MBean server, from {@link #register} to {@link #close}.
 */
public final class VolumeRegistration implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeRegistration.class);
    private static final String DOMAIN = "org.opendedup.sar";

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final List<ObjectName> registered = new ArrayList<>();
    private final HealthNotifications notifications;

    private VolumeRegistration(HealthNotifications notifications) {
        this.notifications = notifications;
    }

    /** Sends notifications of the volume when damage is found, and when none is left. */
    public void tell(DamageSource damage) {
        damage.listen(notifications);
    }

    /** @throws IllegalStateException if a volume of this name is already registered in this process */
    public static VolumeRegistration register(
            VolumeMXBean volume,
            HealthWatch health,
            SarAdministration sar,
            FastTierSource fastTier,
            GarbageCollections collections,
            ScheduleTimer timer,
            Scrubs scrubs,
            ScheduleTimer scrubTimer,
            Joins joins) {
        var registration = new VolumeRegistration(new HealthNotifications(objectName(volume.getName())));
        try {
            registration.addVolume(volume, health);
            registration.addSar(volume.getName(), sar);
            registration.add(
                    objectName("FastTier", volume.getName()), new FastTierView(fastTier), FastTierMXBean.class);
            registration.add(
                    objectName("GarbageCollector", volume.getName()),
                    new GarbageCollectorView(collections, timer),
                    GarbageCollectorMXBean.class);
            registration.add(
                    objectName("Scrub", volume.getName()), new ScrubView(scrubs, scrubTimer), ScrubMXBean.class);
            registration.add(
                    objectName("ExactPass", volume.getName()), new ExactPassView(joins), ExactPassMXBean.class);
            return registration;
        } catch (RuntimeException e) {
            registration.close();
            throw e;
        }
    }

    /**
     * Registers only the SSD of a volume that this program does not mount: the chunk store of an SDFS volume.
     *
     * @throws IllegalStateException if one of this name is already registered in this process
     */
    public static VolumeRegistration registerSar(String volume, SarAdministration sar) {
        var registration = new VolumeRegistration(new HealthNotifications(objectName(volume)));
        try {
            registration.addSar(volume, sar);
            return registration;
        } catch (RuntimeException e) {
            registration.close();
            throw e;
        }
    }

    private void addVolume(VolumeMXBean volume, HealthWatch health) {
        ObjectName name = objectName(volume.getName());
        add(name, volume, VolumeMXBean.class, notifications);
        health.listen(notifications::send);
    }

    private void addSar(String volume, SarAdministration sar) {
        add(sarName("SelectivePromotion", volume), new SelectivePromotionView(sar), SelectivePromotionMXBean.class);
        add(sarName("DataDemotion", volume), new DataDemotionView(sar), DataDemotionMXBean.class);
        add(sarName("MapTable", volume), new MapTableView(sar), MapTableMXBean.class);
        add(sarName("DataDistributor", volume), new DataDistributorView(sar), DataDistributorMXBean.class);
        add(sarName("LruList", volume), new LruListView(sar), LruListMXBean.class);
        ObjectName log = sarName("SsdLog", volume);
        var notifications = new StateNotifications(log);
        add(log, new SsdLogView(sar), SsdLogMXBean.class, notifications);
        sar.listen(notifications::send);
    }

    private <T> void add(ObjectName name, T bean, Class<T> type) {
        add(name, bean, type, new NotificationBroadcasterSupport());
    }

    private <T> void add(ObjectName name, T bean, Class<T> type, NotificationEmitter emitter) {
        try {
            server.registerMBean(new DescribedBean(bean, type, emitter), name);
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
