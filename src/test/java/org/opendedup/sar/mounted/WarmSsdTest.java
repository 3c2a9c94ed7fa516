package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;

/** The SSD serves its chunks immediately after the next mount, also if the daemon was killed. */
@Alone
class WarmSsdTest {
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    Path folder;

    /** How the daemon ends. */
    @FunctionalInterface
    private interface End {
        void of(MountedVolume volume) throws IOException;
    }

    @Test
    void theMapTableSurvivesKill9() throws Exception {
        assertWarmAfter(MountedVolume::kill);
    }

    @Test
    void theMapTableSurvivesUnmounting() throws Exception {
        assertWarmAfter(MountedVolume::unmount);
    }

    private void assertWarmAfter(End end) throws Exception {
        try (MountedVolume volume = SharedFiles.mountWithSsd(folder)) {
            SharedFiles.write(volume);
            Bytes.writeAndSync(volume.mountPoint().resolve("shared"), SharedFiles.shared());
            awaitEntries(volume, SharedFiles.SHARED);
            end.of(volume);

            volume.mount();

            assertEquals(SharedFiles.SHARED, volume.figure("stats", "mapTableEntries"));
            Path all = volume.mountPoint().resolve("shared");
            assertEquals(new Bytes.Comparison(SharedFiles.SHARED, 0, 0), Bytes.compare(all, SharedFiles.shared()));
            assertTrue(volume.figure("stats", "ssdHits") > 0, "nothing was read from the SSD");
            assertEquals(0, volume.figure("stats", "promotedChunks"));
            SharedFiles.assertReads(volume);
        }
    }

    private static void awaitEntries(MountedVolume volume, long entries) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (volume.figure("stats", "mapTableEntries") < entries) {
            assertTrue(System.nanoTime() < deadline, "the shared chunks do not come to the SSD");
            Thread.sleep(50);
        }
    }
}
