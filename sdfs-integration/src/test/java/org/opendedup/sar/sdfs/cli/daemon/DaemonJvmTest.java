package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

class DaemonJvmTest {
    private static final DaemonMemory MEMORY = new DaemonMemory(300 << 20, 100 << 20, Map.of());

    @Test
    void boundsHeapAndDirectMemoryAsPlanned() {
        List<String> command = command(17, "");
        assertTrue(command.contains("-Xmx" + (300 << 20)), command.toString());
        assertTrue(command.contains("-XX:MaxDirectMemorySize=" + (100 << 20)), command.toString());
        assertEquals("-cp", command.get(command.size() - 2));
    }

    /** Its file in /tmp would be changed 20 times a second, also by an idle volume. */
    @Test
    void itKeepsNoFigureInAFile() {
        assertTrue(command(17, "").contains("-XX:-UsePerfData"));
    }

    @Test
    void givesLeaveForNativeCodeOnlyToReleasesThatKnowIt() {
        assertFalse(command(17, "").toString().contains("native-access"));
        assertTrue(command(25, "").contains("--enable-native-access=ALL-UNNAMED"));
        assertTrue(command(25, "").contains("--sun-misc-unsafe-memory-access=allow"));
    }

    /** Else zstd-jni may call the zstd of RocksDB from release 22 on. */
    @Test
    void givesEveryReleaseTheSameClasses() {
        assertTrue(command(25, "").contains("-Djdk.util.jar.enableMultiRelease=false"));
    }

    @Test
    void putsTheUsersOptionsLastSoThatTheyOverrule() {
        List<String> command = command(17, " -Xmx1g  -Da=b ");
        assertTrue(command.indexOf("-Xmx1g") > command.indexOf("-Xmx" + (300 << 20)));
        assertEquals("-Da=b", command.get(command.size() - 3));
    }

    /** The JVM of another user would warn that it can't. */
    @Test
    void ordersThreadsByPriorityForRootAlone() {
        assertTrue(command(17, true, "").contains("-XX:ThreadPriorityPolicy=1"));
        assertFalse(command(17, false, "").toString().contains("Priority"));
    }

    /** Else the daemon's JVM uses the processor's instructions for AES only after the first gigabytes. */
    @Test
    void compilesCiphersSoonForWhoHoldsKeys() {
        VolumeDefinition definition = Definitions.plain("pool0", Path.of("/base"));
        for (boolean holdsKeys : new boolean[] {false, true}) {
            List<String> command = new DaemonJvm(MEMORY, 25, true, holdsKeys, "")
                    .command(new RunFiles(definition, Path.of("/run")), false);
            assertEquals(holdsKeys, command.toString().contains("com.sun.crypto.provider.*::*,0.001"));
        }
    }

    private static List<String> command(int javaFeature, String extraOptions) {
        return command(javaFeature, true, extraOptions);
    }

    private static List<String> command(int javaFeature, boolean isRoot, String extraOptions) {
        VolumeDefinition definition = Definitions.plain("pool0", Path.of("/base"));
        return new DaemonJvm(MEMORY, javaFeature, isRoot, false, extraOptions)
                .command(new RunFiles(definition, Path.of("/run")), false);
    }
}
