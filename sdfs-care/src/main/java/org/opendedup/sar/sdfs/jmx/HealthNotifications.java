package org.opendedup.sar.sdfs.jmx;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.ObjectName;
import org.opendedup.sar.sdfs.health.Health;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.volume.care.DamageFound;
import org.opendedup.sar.volume.care.NewDamageListener;

/**
 * Notifies JMX clients when a volume's health changes: sends one notification of type {@value #TYPE}. The message has
 * the findings, one a line. The user data is the name of the new health.
 *
 * <p>Sends one of type {@value #FINDING} for each finding that begins, such as {@code no-space}, {@code nearly-full},
 * {@code ssd-failed}, and {@code read-only} after a failed commit: the message is the finding, the user data its name.
 * Sends one of type {@value #NO_FINDING} when it ends.
 *
 * <p>Sends one of type {@value #DAMAGE} for each place that is found damaged: the message names the place, why, and
 * files with bytes in it; the user data is the place. Sends one of type {@value #NO_DAMAGE} when none is left.
 */
final class HealthNotifications extends NotificationBroadcasterSupport implements NewDamageListener {
    static final String TYPE = "org.opendedup.sar.volume.health";

    static final String FINDING = "org.opendedup.sar.volume.finding";
    static final String NO_FINDING = "org.opendedup.sar.volume.finding.gone";

    static final String DAMAGE = "org.opendedup.sar.volume.damage";
    static final String NO_DAMAGE = "org.opendedup.sar.volume.damage.none";

    private final ObjectName source;
    private final AtomicLong sequence = new AtomicLong();
    /** Guarded by this. */
    private Health health = Health.WELL;
    /** Lines of the findings by their names. Guarded by this. */
    private Map<String, String> known = Map.of();

    /** @param source name of the MBean that sends the notifications */
    HealthNotifications(ObjectName source) {
        super(new MBeanNotificationInfo(
                new String[] {TYPE, FINDING, NO_FINDING, DAMAGE, NO_DAMAGE},
                Notification.class.getName(),
                "The health of the volume changed, something else is wrong, or damage was found or is gone"));
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

    synchronized void send(HealthWatch.Judgement<?> judgement) {
        Map<String, String> now = new LinkedHashMap<>();
        judgement
                .findings()
                .forEach(finding -> now.merge(finding.id(), finding.line(), (one, other) -> one + "\n" + other));
        Map<String, String> before = known;
        known = now;
        if (judgement.health() != health) {
            health = judgement.health();
            send(TYPE, String.join("\n", now.values()), health.toString());
        }
        now.forEach((id, line) -> {
            if (!before.containsKey(id)) {
                send(FINDING, line, id);
            }
        });
        before.forEach((id, line) -> {
            if (!now.containsKey(id)) {
                send(NO_FINDING, line, id);
            }
        });
    }

    private void send(String type, String message, String userData) {
        var notification =
                new Notification(type, source, sequence.incrementAndGet(), System.currentTimeMillis(), message);
        notification.setUserData(userData);
        sendNotification(notification);
    }
}
