package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.config.RequestBuffers;

/** What requests take of the memory budget, by the options of a mount. */
class MemoryOfThreadsTest {
    private static final int MIB = 1 << 20;

    @Test
    void everyThreadHasBuffersForARequestAndAReply() {
        RequestBuffers eight = FuseMountService.requestBuffersOf("");
        assertEquals(8, eight.threads());
        assertTrue(eight.bytes() >= 8 * 2 * MIB && eight.bytes() <= 8 * 2.1 * MIB, eight.toString());
        assertEquals(36, FuseMountService.requestBuffersOf("threads=36").threads());
        assertEquals(
                eight.bytes() / 8 * 36,
                FuseMountService.requestBuffersOf("threads=36").bytes());
    }

    @Test
    void theLimitOfTheJvmFollowsThem() {
        VolumeDefinition definition = Definitions.plain("pool0", Path.of("/base"));
        RequestBuffers few = FuseMountService.requestBuffersOf("threads=4");
        RequestBuffers more = FuseMountService.requestBuffersOf("threads=12");
        long byFew = limit(definition, few);
        long byMore = limit(definition, more);
        assertTrue(byFew > few.bytes(), byFew + " bytes");
        assertTrue(byMore - byFew >= more.bytes() - few.bytes(), byFew + " and " + byMore + " bytes");
    }

    private static long limit(VolumeDefinition definition, RequestBuffers requests) {
        return DaemonMemory.of(definition.engineConfig().withRequests(requests)).directBytes();
    }
}
