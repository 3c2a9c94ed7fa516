package org.opendedup.sar.sdfs.jmx;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.ObjectName;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.volume.care.DamageFound;
import org.opendedup.sar.volume.care.NewDamageListener;

/**
 * Notifies JMX clients when a volume's health changes: sends one notification of type {@value #TYPE}. The message has
 * the findings, one a line. The user data is the name of the new health.
 *
 * <p>Sends one of type {@value #DAMAGE} for each place that is found damaged: the message names the place, why, and
 * files with bytes in it; the user data is the place. Sends one of type {@value #NO_DAMAGE} when none is left.
 */
final class HealthNotifications extends NotificationBroadcasterSupport implements NewDamageListener {
    static final String TYPE = "org.opendedup.sar.volume.health";

    static final String DAMAGE = "org.opendedup.sar.volume.damage";
    static final String NO_DAMAGE = "org.opendedup.sar.volume.damage.none";

    private final ObjectName source;
    private final AtomicLong sequence = new AtomicLong();

    /** @param source name of the MBean that sends the notifications */
    HealthNotifications(ObjectName source) {
        super(new MBeanNotificationInfo(
                new String[] {TYPE, DAMAGE, NO_DAMAGE},
                Notification.class.getName(),
                "The health of the volume changed, or damage was found or is gone"));
        this.source = source;
    }

    @Override
    public void found(DamageFound damage) {
        String names = String.join(", ", damage.paths());
        String more = damage.morePaths() == 0 ? "" : " and " + damage.morePaths() + " more";
        String files = names.isEmpty() ? "" : "; files: " + names + more;
        send(DAMAGE, damage.place() + ": " + damage.note().reason() + files, damage.place());
    }

    @Override
    public void gone() {
        send(NO_DAMAGE, "no damage is left", "");
    }

    void send(HealthWatch.Judgement<?> judgement) {
        String findings = judgement.findings().stream().map(Finding::line).collect(Collectors.joining("\n"));
        send(TYPE, findings, judgement.health().toString());
    }

    private void send(String type, String message, String userData) {
        var notification =
                new Notification(type, source, sequence.incrementAndGet(), System.currentTimeMillis(), message);
        notification.setUserData(userData);
        sendNotification(notification);
    }
}
