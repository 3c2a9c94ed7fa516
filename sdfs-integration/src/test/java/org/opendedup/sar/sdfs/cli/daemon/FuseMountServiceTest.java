package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FuseMountServiceTest {
    private final FuseMountService service = new FuseMountService();

    @Test
    void itsOwnOptionsAreAmongThoseOfTheMount() {
        assertDoesNotThrow(() -> service.checkOptions("ro,verify_fingerprints,noexec"));
        assertDoesNotThrow(() -> service.checkOptions(""));
    }

    @Test
    void metricsAreServedToThisMachineUnlessTheOptionNamesAnAddress() {
        assertEquals(Optional.empty(), service.metricsAddress("ro"));
        assertTrue(service.metricsAddress("ro,metrics=9141")
                .orElseThrow()
                .getAddress()
                .isLoopbackAddress());
        assertEquals(
                "0.0.0.0",
                service.metricsAddress("metrics=0.0.0.0:9141").orElseThrow().getHostString());
        assertEquals(
                "::1",
                service.metricsAddress("metrics=[::1]:9141").orElseThrow().getHostString());
        for (String wrong : List.of("", "host", "host:", ":9141", "1:65536", "9141x", "-1")) {
            assertThrows(IllegalArgumentException.class, () -> service.checkOptions("metrics=" + wrong), wrong);
        }
    }

    @Test
    void aGroupMayReadTheStatusUnlessTheOptionNamesNone() {
        assertEquals("adm", service.statusGroup("ro"));
        assertEquals("wheel", service.statusGroup("ro,status_group=wheel"));
        assertEquals("", service.statusGroup("status_group="));
    }

    @Test
    void anUnknownOptionIsNamed() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> service.checkOptions("verify_fingerprints,colour"));
        assertTrue(refused.getMessage().contains("'colour'"), refused.getMessage());
    }
}
