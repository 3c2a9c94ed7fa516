package org.opendedup.sar.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HardDiskTest {
    private static final double MILLI = 1e6;
    private static final double TURN_MILLIS = 60_000.0 / 7200;

    private final Simulation simulation = new Simulation();
    private Device disk;

    @BeforeEach
    void makeDisk() throws IOException {
        disk = Machine.load("sar").newDisk(simulation);
    }

    private double millis(Transfer transfer) {
        long start = simulation.nowNanos();
        disk.submit(transfer, () -> {});
        simulation.run();
        return (simulation.nowNanos() - start) / MILLI;
    }

    @Test
    void whatWasJustReadIsRewrittenOneTurnLater() {
        Transfer read = Transfer.read(40L << 30, 4096);
        millis(read);
        double rewrite = millis(Transfer.write(40L << 30, 4096));
        assertEquals(TURN_MILLIS, rewrite, 0.001);
    }

    @Test
    void whatFollowsAReadComesWithoutASeek() {
        millis(Transfer.read(1L << 30, 4096));
        double next = millis(Transfer.read((1L << 30) + 4096, 4096));
        assertTrue(next < 0.3, () -> next + " ms");
    }

    @Test
    void whatWasWrittenIsNotReadFromMemory() {
        millis(Transfer.read(1L << 30, 65536));
        millis(Transfer.write((1L << 30) + 4096, 4096));
        double read = millis(Transfer.read(1L << 30, 65536));
        assertTrue(read > 1, () -> read + " ms");
    }

    @Test
    void aSequentialReaderGetsTheRateOfTheZone() {
        double total = 0;
        for (int i = 0; i < 1000; i++) {
            total += millis(Transfer.read(i * 262_144L, 262_144));
        }
        double rate = 262_144 * 1000 / 1e6 / (total / 1000);
        assertEquals(97, rate, 1);
    }

    @Test
    void twoReadsFarApartTakeLongerThanTwoNear() {
        millis(Transfer.read(0, 4096));
        double near = 0;
        double far = 0;
        // Over many angles the turn counts alike.
        for (int i = 1; i <= 200; i++) {
            near += millis(Transfer.read(i * 10_000_000L, 4096));
        }
        for (int i = 0; i < 200; i++) {
            far += millis(Transfer.read((i % 2 == 0 ? 150L : 1L) * 1_000_000_000 + i * 10_000_000L, 4096));
        }
        double difference = (far - near) / 200;
        assertTrue(difference > 12 && difference < 21, () -> difference + " ms");
    }

    @Test
    void aDeepQueueServesMoreRequestsInASecond() throws IOException {
        List<Double> rates = SelfCheck.run(Machine.load("sar")).stream()
                .filter(finding ->
                        finding.unit().equals("IOPS") && finding.name().startsWith("disk"))
                .map(SelfCheck.Finding::reached)
                .toList();
        assertEquals(3, rates.size());
        assertTrue(rates.get(1) > rates.get(0) * 1.15 && rates.get(2) > rates.get(1) * 1.15, rates::toString);
    }

    @Test
    void eventsOfOneMomentHappenInTheOrderTheyWereEntered() {
        StringBuilder order = new StringBuilder();
        simulation.at(5, () -> order.append('b'));
        simulation.at(3, () -> simulation.at(5, () -> order.append('d')));
        simulation.at(5, () -> order.append('c'));
        simulation.at(1, () -> order.append('a'));
        simulation.run();
        assertEquals("abcd", order.toString());
        assertEquals(5, simulation.nowNanos());
    }
}
