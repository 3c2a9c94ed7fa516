package org.opendedup.sar.sdfs.jmx;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.ObjectName;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthWatch;

/**
 * Notifies JMX clients when a volume's health changes: sends one notification of type {@value #TYPE}. The message has
 * the findings, one a line. The user data is the name of the new health.
 */
final class HealthNotifications extends NotificationBroadcasterSupport {
    static final String TYPE = "org.opendedup.sar.volume.health";

    private final ObjectName source;
    private final AtomicLong sequence = new AtomicLong();

    /** @param source name of the MBean that sends the notifications */
    HealthNotifications(ObjectName source) {
        super(new MBeanNotificationInfo(
                new String[] {TYPE}, Notification.class.getName(), "The health of the volume changed"));
        this.source = source;
    }

    void send(HealthWatch.Judgement judgement) {
        var notification = new Notification(
                TYPE,
                source,
                sequence.incrementAndGet(),
                System.currentTimeMillis(),
                judgement.findings().stream().map(Finding::line).collect(Collectors.joining("\n")));
        notification.setUserData(judgement.health().toString());
        sendNotification(notification);
    }
}
