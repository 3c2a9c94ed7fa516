package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The plugin beside SDFS's own libraries in one process. */
@Timeout(180)
class PluginLoadingTest {
    private static final String PASSPHRASE = "correct horse battery staple";

    @Test
    void twoVersionsOfRocksDbAndGuavaWorkInOneProcess(@TempDir Path folder) throws Exception {
        ProcessBuilder builder = Host.process(TwoVersions.class, folder.toString());
        builder.environment().put("SDFS_PASSPHRASE", PASSPHRASE);
        Process process = builder.start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue(), said);
            assertTrue(said.contains("both worked"), said);
            assertTrue(said.contains("rocksdbjni-6.28.2.jar"), said);
            assertTrue(said.contains("guava-30.1.1-jre.jar"), said);
            assertFalse(said.contains(PASSPHRASE), said);
            assertTrue(Files.exists(folder.resolve("chunks/sar/data/volume.keys")), "it is encrypted");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aJarThatIsReplacedWhileItIsUsedDoesNotKeepSdfsFromEnding(@TempDir Path folder) throws Exception {
        Path jar = Files.copy(Host.jar(), folder.resolve("plugin.jar"));
        ProcessBuilder builder =
                Host.process(ReplacedJar.class, folder.resolve("volume").toString(), jar.toString());
        builder.command().replaceAll(word -> word.replace(Host.jar().toString(), jar.toString()));
        Process process = builder.start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertTrue(said.contains("closed"), said);
            assertEquals(0, process.exitValue(), said);
        } finally {
            process.destroyForcibly();
        }
        SarChunkStore store = new SarChunkStore();
        store.init(Host.config(folder.resolve("volume"), ""));
        SarHashesMap map = new SarHashesMap();
        map.init(1000, "", 0.01);
        assertTrue(map.containsKey(Chunk.of(1).hash()), "what was synced is there");
        store.close();
    }
}
