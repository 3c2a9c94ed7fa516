package org.opendedup.sar.mounted;

import com.sun.tools.attach.VirtualMachine;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.management.Attribute;
import javax.management.MBeanServerConnection;
import javax.management.Notification;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;

/**
 * A JMX client of a mounted volume's SAR beans. A daemon that is another process is asked through the connector that
 * its JDK opens for its own user; no network port is open.
 */
final class JmxClient implements AutoCloseable {
    private final String volume;
    private final Optional<JMXConnector> connector;
    private final MBeanServerConnection server;

    @SuppressWarnings("BanJNDI") // the address comes from the JDK, and has no JNDI name in it
    JmxClient(MountedVolume mounted) throws Exception {
        volume = mounted.name();
        if (mounted.pid() == ProcessHandle.current().pid()) {
            connector = Optional.empty();
            server = ManagementFactory.getPlatformMBeanServer();
            return;
        }
        VirtualMachine daemon = VirtualMachine.attach(Long.toString(mounted.pid()));
        try {
            var address = new JMXServiceURL(daemon.startLocalManagementAgent());
            connector = Optional.of(JMXConnectorFactory.connect(address));
        } finally {
            daemon.detach();
        }
        server = connector.get().getMBeanServerConnection();
    }

    /** An attribute of the bean of a type, such as {@code MapTable}. */
    Object get(String type, String attribute) throws Exception {
        return server.getAttribute(VolumeRegistration.sarName(type, volume), attribute);
    }

    void set(String type, String attribute, Object value) throws Exception {
        server.setAttribute(VolumeRegistration.sarName(type, volume), new Attribute(attribute, value));
    }

    /** Makes the SSD's bean attach an SSD. */
    void attach(Path ssd) throws Exception {
        server.invoke(
                VolumeRegistration.sarName("SsdLog", volume), "attach", new Object[] {ssd.toString()}, new String[] {
                    String.class.getName()
                });
    }

    /** The notifications of the SSD's state from now on. */
    BlockingQueue<Notification> listen() throws Exception {
        return listen("SsdLog");
    }

    /** The notifications of the bean of a type from now on. */
    BlockingQueue<Notification> listen(String type) throws Exception {
        BlockingQueue<Notification> heard = new LinkedBlockingQueue<>();
        server.addNotificationListener(
                VolumeRegistration.sarName(type, volume),
                (notification, handback) -> heard.add(notification),
                null,
                null);
        return heard;
    }

    @Override
    public void close() throws Exception {
        if (connector.isPresent()) {
            connector.get().close();
        }
    }
}
