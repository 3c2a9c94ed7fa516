package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.Libc;

/** Holding and releasing, on a file in place of the device. */
@Timeout(60)
class ProcessorLatencyTest {
    private static final byte[] ZERO = new byte[4];

    private final Libc libc = new Libc();

    @TempDir
    Path folder;

    private Path device;

    @BeforeEach
    void makeDevice() throws IOException {
        device = Files.createFile(folder.resolve("device"));
    }

    @Test
    void aNumberOfFourZeroBytesIsWrittenOnceForEachHolding() throws IOException {
        try (ProcessorLatency latency = new ProcessorLatency(libc, device)) {
            latency.hold();
            latency.hold();
            assertTrue(latency.isHeld());
            assertArrayEquals(ZERO, Files.readAllBytes(device));
            latency.release();
            latency.release();
            assertFalse(latency.isHeld());
            Files.write(device, new byte[0]);
            latency.hold();
            assertTrue(latency.isHeld());
            assertArrayEquals(ZERO, Files.readAllBytes(device));
        }
    }

    @Test
    void nothingIsHeldAfterTheEnd() {
        ProcessorLatency latency = new ProcessorLatency(libc, device);
        latency.hold();
        latency.close();
        assertFalse(latency.isHeld());
        latency.hold();
        assertFalse(latency.isHeld());
    }

    @Test
    void aDeviceThatCannotBeOpenedIsTriedOnce() throws IOException {
        try (ProcessorLatency latency = new ProcessorLatency(libc, folder.resolve("later"))) {
            latency.hold();
            assertFalse(latency.isHeld());
            Files.createFile(folder.resolve("later"));
            latency.hold();
            assertFalse(latency.isHeld());
        }
    }

    @Test
    void theUnusedOneDoesNothing() {
        ProcessorLatency latency = new ProcessorLatency(libc, null);
        latency.hold();
        assertFalse(latency.isHeld());
        latency.close();
    }

    @Test
    void aCrewHoldsItWhileRequestsFlowAndReleasesItAtRest() throws InterruptedException {
        ProcessorLatency latency = new ProcessorLatency(libc, device);
        Crew crew = new Crew(1, latency);
        crew.startGuard();
        Crew.Member member = crew.members().get(0);
        member.awaitTurn(0);
        while (!latency.isHeld()) {
            member.received();
            member.awaitTurn(0);
        }
        while (latency.isHeld()) {
            Thread.sleep(1);
        }
        while (!latency.isHeld()) {
            member.received();
            member.awaitTurn(0);
        }
        member.allEnd();
        while (latency.isHeld()) {
            Thread.sleep(1);
        }
    }
}
