package org.opendedup.sar.volume.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.volume.Volume;

class DescriptorPlanTest {
    private static final long MIB = 1 << 20;

    @MemoryFolder
    Path folder;

    private static HotSettings capacity(long bytes) {
        return new HotSettings(true, bytes, 5, 128 << 10, true, 1_000_000, HotSettings.Policy.REFERENCE_COUNT);
    }

    @Test
    void eachPartIsCounted() {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256);
        long needed = DescriptorPlan.needed(config);
        assertTrue(needed > 256 + 256 + 512, () -> needed + " files");
        assertEquals(needed + 16, DescriptorPlan.needed(config.withRequests(new RequestBuffers(8, MIB))));
        VolumeConfig large = config.withSsd(folder, capacity(1L << 40));
        assertTrue(DescriptorPlan.needed(large) > needed + (1 << 14), "each segment of the SSD's log is open");
        VolumeConfig small = config.withSsd(folder, capacity(MIB));
        assertTrue(DescriptorPlan.needed(small) < needed + 100, "a small log has few segments");
        VolumeConfig unbounded = config.withSsd(folder, capacity(Long.MAX_VALUE));
        assertTrue(DescriptorPlan.needed(unbounded) < 1 << 17, "and no log has more than its numbers");
    }

    @Test
    void aLowLimitIsRefusedWithTheNumber() {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256);
        long needed = DescriptorPlan.needed(config);
        assertDoesNotThrow(() -> DescriptorPlan.require(config, needed));
        IOException refusal = assertThrows(IOException.class, () -> DescriptorPlan.require(config, needed - 1));
        assertTrue(refusal.getMessage().contains("up to " + needed + " open files"), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("may have " + (needed - 1)), refusal::getMessage);
    }

    /** The soft limit does not matter: a JVM raises it. */
    @Test
    void aProcessWithFewDescriptorsOpensNoVolume() throws Exception {
        long needed = DescriptorPlan.needed(VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256));
        String refused = opened("ulimit -n " + (needed - 1));
        assertTrue(refused.contains("this process may have " + (needed - 1)), refused);
        assertEquals("opened", opened("ulimit -n " + needed + "; ulimit -S -n 100"), "control");
    }

    private String opened(String limits) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process child = new ProcessBuilder(
                        "sh",
                        "-c",
                        limits + "; exec \"$@\"",
                        "sh",
                        java,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        folder.resolve(limits.replaceAll("\\W", "")).toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, child.waitFor());
        return said.lines().reduce("", (before, line) -> line);
    }

    /** Makes a volume, opens and closes it, and says how that went. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws IOException {
            VolumeConfig config = VolumeConfigs.in(Path.of(arguments[0]), 1L << 40, Chunking.SHA256);
            Volume.create(config);
            try {
                Volume.open(config).close();
                System.out.println("opened");
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
