package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** What is in the jar, and what is not. */
class PluginJarTest {
    private static final String ENGINE = "META-INF/sar-engine/";

    private static List<String> entries() throws IOException {
        List<String> names = new ArrayList<>();
        try (ZipFile jar = new ZipFile(Host.jar().toFile())) {
            jar.stream().filter(entry -> !entry.isDirectory()).forEach(entry -> names.add(entry.getName()));
        }
        return names;
    }

    /** Classes of SDFS, ours or theirs, wherever they are in the jar. */
    private static List<String> ofSdfs(List<String> names) {
        return names.stream()
                .filter(name -> name.contains("org/opendedup/") && !name.contains("org/opendedup/sar/"))
                .toList();
    }

    @Test
    void noClassOfSdfsIsShipped() throws IOException {
        assertEquals(List.of(), ofSdfs(entries()));
    }

    @Test
    void theRuleFindsAClassOfSdfs() {
        // The control.
        List<String> bad = List.of("org/opendedup/collections/InsertRecord.class");
        assertEquals(bad, ofSdfs(bad));
        List<String> hidden = List.of(ENGINE + "org/opendedup/sdfs/filestore/ChunkData.class");
        assertEquals(hidden, ofSdfs(hidden));
    }

    @Test
    void theHostSeesThePluginsOwnClassesAndNothingElse() throws IOException {
        List<String> visible = entries().stream()
                .filter(name -> !name.startsWith("META-INF/") && !name.startsWith("org/opendedup/sar/plugin/"))
                .toList();
        assertEquals(List.of(), visible);
    }

    @Test
    void theEngineAndItsNativeLibrariesAreThere() throws IOException {
        List<String> names = entries();
        for (String name : List.of(
                "org/opendedup/sar/plugin/SarChunkStore.class",
                "org/opendedup/sar/plugin/SarHashesMap.class",
                ENGINE + "org/opendedup/sar/volume/chunks/ChunkVolume.class",
                ENGINE + "org/opendedup/sar/sdfs/cli/control/ControlServer.class",
                ENGINE + "com/fasterxml/jackson/databind/ObjectMapper.class",
                ENGINE + "org/rocksdb/RocksDB.class",
                ENGINE + "librocksdbjni-linux64.so",
                ENGINE + "librocksdbjni-linux-aarch64.so",
                ENGINE + "jni/x86_64-Linux/libjffi-1.2.so",
                ENGINE + "jni/aarch64-Linux/libjffi-1.2.so",
                "META-INF/LICENSE",
                "META-INF/NOTICE",
                "META-INF/THIRD-PARTY.md")) {
            assertTrue(names.contains(name), name);
        }
        assertTrue(names.stream().anyMatch(name -> name.matches(ENGINE + "linux/amd64/libzstd-jni.*so")));
        assertFalse(names.stream().anyMatch(name -> name.startsWith(ENGINE + "picocli/")), "no command line is in it");
        assertFalse(names.stream().anyMatch(name -> name.endsWith(".dll") || name.endsWith(".jnilib")));
    }
}
