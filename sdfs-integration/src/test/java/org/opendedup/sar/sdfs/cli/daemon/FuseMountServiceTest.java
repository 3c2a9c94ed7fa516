package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FuseMountServiceTest {
    private final FuseMountService service = new FuseMountService();

    @Test
    void itsOwnOptionsAreAmongThoseOfTheMount() {
        assertDoesNotThrow(() -> service.checkOptions("ro,verify_fingerprints,noexec"));
        assertDoesNotThrow(() -> service.checkOptions(""));
    }

    @Test
    void anUnknownOptionIsNamed() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> service.checkOptions("verify_fingerprints,colour"));
        assertTrue(refused.getMessage().contains("'colour'"), refused.getMessage());
    }
}
