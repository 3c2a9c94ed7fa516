package org.opendedup.sar.sdfs.jmx;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A volume's place on the platform's MBean server, from {@link #register} to {@link #close}. */
public final class VolumeRegistration implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeRegistration.class);

    private final MBeanServer server;
    private final ObjectName objectName;

    private VolumeRegistration(MBeanServer server, ObjectName objectName) {
        this.server = server;
        this.objectName = objectName;
    }

    /** @throws IllegalStateException if a volume of this name is registered in this process already */
    public static VolumeRegistration register(VolumeMXBean volume) {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName objectName = objectName(volume.getName());
        try {
            server.registerMBean(new DescribedVolume(volume), objectName);
        } catch (InstanceAlreadyExistsException e) {
            throw new IllegalStateException(objectName + " is registered already", e);
        } catch (JMException e) {
            throw new IllegalStateException(objectName + " cannot be registered", e);
        }
        return new VolumeRegistration(server, objectName);
    }

    /** The name under which a volume is found. */
    public static ObjectName objectName(String volume) {
        try {
            return new ObjectName("org.opendedup.sar:type=Volume,name=" + volume);
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException("'" + volume + "' is no volume name", e);
        }
    }

    /** Takes the volume off the server. Idempotent. */
    @Override
    public void close() {
        try {
            if (server.isRegistered(objectName)) {
                server.unregisterMBean(objectName);
            }
        } catch (InstanceNotFoundException e) {
            LOG.debug("{} was taken off by another thread", objectName, e);
        } catch (JMException e) {
            LOG.warn("{} cannot be taken off the MBean server", objectName, e);
        }
    }

    /** Gives JMX consoles the attributes' descriptions. */
    private static final class DescribedVolume extends StandardMBean {
        DescribedVolume(VolumeMXBean volume) {
            super(volume, VolumeMXBean.class, true);
        }

        @Override
        protected @Nullable String getDescription(MBeanInfo info) {
            Description description = VolumeMXBean.class.getAnnotation(Description.class);
            return description == null ? super.getDescription(info) : description.value();
        }

        @Override
        protected @Nullable String getDescription(MBeanAttributeInfo info) {
            try {
                Method getter = VolumeMXBean.class.getMethod("get" + info.getName());
                Description description = getter.getAnnotation(Description.class);
                return description == null ? super.getDescription(info) : description.value();
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException(info.getName() + " has no getter", e);
            }
        }
    }
}
