package org.opendedup.sar.sdfs.jmx;

import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.ObjectName;
import org.opendedup.sar.hot.SsdEvent;

/**
 * Notifies JMX clients of changes of the SSD's state: sends one notification of type {@value #TYPE} for each
 * {@link SsdEvent}. The user data is the name of the new state.
 */
final class StateNotifications extends NotificationBroadcasterSupport {
    static final String TYPE = "org.opendedup.sar.ssd.state";

    private final ObjectName source;
    private final AtomicLong sequence = new AtomicLong();

    /** @param source name of the MBean that sends the notifications */
    StateNotifications(ObjectName source) {
        super(new MBeanNotificationInfo(
                new String[] {TYPE}, Notification.class.getName(), "The state of the SSD changed"));
        this.source = source;
    }

    void send(SsdEvent event) {
        var notification =
                new Notification(TYPE, source, sequence.incrementAndGet(), System.currentTimeMillis(), event.message());
        notification.setUserData(SarFigures.spelling(event.state()));
        sendNotification(notification);
    }
}
