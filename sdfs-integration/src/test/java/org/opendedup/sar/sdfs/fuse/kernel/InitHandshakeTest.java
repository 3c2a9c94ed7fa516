package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.InitFlag;

class InitHandshakeTest {
    private static final int EVERYTHING = -1;

    @Test
    void newerMinorVersionsAreServed() {
        assertNull(InitHandshake.refusal(7, 31, EVERYTHING));
        assertNull(InitHandshake.refusal(7, 99, EVERYTHING));
    }

    @Test
    void olderKernelsAreRefusedWithBothVersions() {
        String refusal = InitHandshake.refusal(7, 26, EVERYTHING);
        assertNotNull(refusal);
        assertTrue(refusal.contains("7.26") && refusal.contains("7.31"), refusal);
        assertNotNull(InitHandshake.refusal(6, 40, EVERYTHING));
    }

    @Test
    void whyThereIsNoPassthroughIsSaid() {
        assertEquals("on", InitHandshake.offered(InitFlag.PASSTHROUGH).toString());
        assertTrue(InitHandshake.offered(EVERYTHING & ~InitFlag.PASSTHROUGH)
                .toString()
                .contains("Linux 6.9"));
        MountOptions options = MountOptions.of(Path.of("/"), "toy");
        assertEquals(Passthrough.NOT_WANTED, BackingDevice.wanted(new Libc(), options));
        assertTrue(BackingDevice.wanted(new Libc(), options.with("passthrough,sync"))
                .toString()
                .contains("durable"));
    }

    @Test
    void kernelsThatLackAnAbilityAreRefused() {
        assertNotNull(InitHandshake.refusal(7, 38, EVERYTHING & ~InitFlag.WRITEBACK_CACHE));
        assertNull(InitHandshake.refusal(7, 38, EVERYTHING & ~InitFlag.HANDLE_KILLPRIV_V2));
    }
}
