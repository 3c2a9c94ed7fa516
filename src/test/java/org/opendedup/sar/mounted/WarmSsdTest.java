package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The SSD serves what it held right after the next mount, also if the daemon was killed. */
class WarmSsdTest {
    private static final int CHUNK = 4096;
    private static final int SHARED = 64;
    private static final int FILES = 6;
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
        Path made = Files.createDirectory(folder.resolve("warm"));
        try (MountedVolume volume = MountedVolume.makeWith(
                        made,
                        "--hash-type=SHA256",
                        "--sar-ssd-location=" + made.resolve("ssd"),
                        "--sar-ssd-capacity=256MB",
                        "--sar-policy=reference-count",
                        "--sar-reference-count-threshold=2")
                .mount()) {
            for (int file = 0; file < FILES; file++) {
                Bytes.writeAndSync(volume.mountPoint().resolve("file" + file), content(file));
            }
            Bytes.writeAndSync(volume.mountPoint().resolve("shared"), shared());
            awaitEntries(volume, SHARED);
            end.of(volume);

            volume.mount();

            assertEquals(SHARED, volume.figure("stats", "mapTableEntries"));
            Path all = volume.mountPoint().resolve("shared");
            assertEquals(new Bytes.Comparison(SHARED, 0, 0), Bytes.compare(all, shared()));
            assertTrue(volume.figure("stats", "ssdHits") > 0, "nothing was read from the SSD");
            assertEquals(0, volume.figure("stats", "promotedChunks"));
            for (int file = 0; file < FILES; file++) {
                Path found = volume.mountPoint().resolve("file" + file);
                assertEquals(new Bytes.Comparison(2 * SHARED, 0, 0), Bytes.compare(found, content(file)));
            }
        }
    }

    private static byte[] shared() {
        return Bytes.random(1, SHARED * CHUNK);
    }

    /** Chunks that all files share, with a chunk of its own after each: so that no run is long. */
    private static byte[] content(int file) {
        byte[] shared = shared();
        byte[] own = Bytes.random(2 + file, SHARED * CHUNK);
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (int at = 0; at < shared.length; at += CHUNK) {
            content.write(shared, at, CHUNK);
            content.write(own, at, CHUNK);
        }
        return content.toByteArray();
    }

    private static void awaitEntries(MountedVolume volume, long entries) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (volume.figure("stats", "mapTableEntries") < entries) {
            assertTrue(System.nanoTime() < deadline, "the shared chunks do not come to the SSD");
            Thread.sleep(50);
        }
    }
}
