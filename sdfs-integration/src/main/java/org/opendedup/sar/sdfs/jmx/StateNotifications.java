package org.opendedup.sar.sdfs.jmx;

import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.ObjectName;
import org.opendedup.sar.tier.SsdTier;

/**
 * Tells JMX clients how the SSD does: a notification of type {@value #TYPE} for each {@link SsdTier.Event}, its user data
 * the new state's name.
 */
final class StateNotifications extends NotificationBroadcasterSupport {
    static final String TYPE = "org.opendedup.sar.ssd.state";

    private final ObjectName source;
    private final AtomicLong sequence = new AtomicLong();

    /** @param source the MBean that notifies */
    StateNotifications(ObjectName source) {
        super(new MBeanNotificationInfo(
                new String[] {TYPE}, Notification.class.getName(), "The SSD came, went, or does worse or better"));
        this.source = source;
    }

    void send(SsdTier.Event event) {
        var notification =
                new Notification(TYPE, source, sequence.incrementAndGet(), System.currentTimeMillis(), event.message());
        notification.setUserData(SarFigures.spelling(event.state()));
        sendNotification(notification);
    }
}
