package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FuseMountServiceTest {
    private final FuseMountService service = new FuseMountService();

    @Test
    void aBindingIsChosenAmongTheMountOptions() {
        assertDoesNotThrow(() -> service.checkOptions("ro,fuse_binding=jnr,verify_fingerprints,noexec"));
        assertDoesNotThrow(() -> service.checkOptions("fuse_binding=kernel"));
        assertDoesNotThrow(() -> service.checkOptions(""));
    }

    @Test
    void anUnknownBindingOrOptionIsNamed() {
        assertNamed("none", "ro,fuse_binding=none");
        assertNamed("colour", "fuse_binding=jnr,colour");
    }

    private void assertNamed(String expected, String options) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> service.checkOptions(options));
        assertTrue(refused.getMessage().contains("'" + expected + "'"), refused.getMessage());
    }
}
