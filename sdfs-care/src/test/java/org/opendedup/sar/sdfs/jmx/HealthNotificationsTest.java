package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.management.Notification;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.sdfs.health.Facts;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthRules;
import org.opendedup.sar.sdfs.health.HealthWatch;

/** What JMX clients are told when something of a volume is not well, and when it is well again. */
class HealthNotificationsTest {
    private final Facts facts = new Facts();
    private final HealthWatch<HealthFacts> health = new HealthWatch<>(facts::facts, HealthRules::findings);
    private final List<Notification> heard = new ArrayList<>();

    @BeforeEach
    void listen() {
        var notifications = new HealthNotifications(VolumeRegistration.objectName("pool0"));
        notifications.addNotificationListener((notification, handback) -> heard.add(notification), null, null);
        health.listen(notifications::send);
    }

    @AfterEach
    void end() {
        health.close();
    }

    /** Judges, and returns what was told since the last time: types without their common beginning, and user data. */
    private List<String> told() throws IOException {
        heard.clear();
        var unused = health.judge();
        return heard.stream()
                .map(one -> one.getType().replaceFirst("org.opendedup.sar.volume.", "") + " " + one.getUserData())
                .toList();
    }

    @Test
    void eachFindingIsToldWhenItBeginsAndWhenItEnds() throws IOException {
        assertEquals(List.of(), told(), "the volume is well");
        facts.shortage = "no space";
        assertEquals(List.of("health degraded", "finding no-space"), told());
        assertTrue(
                heard.get(1).getMessage().contains("disk is full"), heard.get(1).getMessage());
        assertEquals(List.of(), told(), "nothing new");
        facts.ssd = SsdState.FAILED;
        assertEquals(List.of("finding ssd-failed"), told(), "the health stays the same");
        facts.stopped = "Input/output error";
        assertEquals(List.of("finding read-only"), told(), "a commit failed");
        facts.damagedChunks = 2;
        assertEquals(List.of("health damaged", "finding damaged-chunks"), told());
        facts.shortage = null;
        facts.ssd = SsdState.NONE;
        assertEquals(
                List.of("finding.gone no-space", "finding.gone ssd-failed"),
                told().stream().sorted().toList());
        facts.stopped = null;
        facts.damagedChunks = 0;
        assertEquals(
                List.of("finding.gone damaged-chunks", "finding.gone read-only", "health well"),
                told().stream().sorted().toList());
    }
}
