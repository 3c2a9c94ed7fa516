package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

class ElfSymbolsTest {
    private static byte[] entry(Path jar, String name) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            return zip.getInputStream(zip.getEntry(name)).readAllBytes();
        }
    }

    @Test
    void noSymbolOfTheEnginesRocksDbIsSharedWithTheHost() throws IOException {
        for (String library : new String[] {"librocksdbjni-linux64.so", "librocksdbjni-linux-aarch64.so"}) {
            byte[] bytes = entry(Host.jar(), "META-INF/sar-engine/" + library);
            byte[] before = bytes.clone();
            // The control: as it is, it has some.
            int shared = ElfSymbols.countUnique(bytes, EngineLoader.ROCKSDB_NAMESPACE);
            assertTrue(shared > 0, library);
            assertEquals(shared, ElfSymbols.separate(bytes, EngineLoader.ROCKSDB_NAMESPACE));
            assertEquals(0, ElfSymbols.countUnique(bytes, EngineLoader.ROCKSDB_NAMESPACE));
            int changed = 0;
            for (int i = 0; i < bytes.length; i++) {
                changed += bytes[i] == before[i] ? 0 : 1;
            }
            assertEquals(shared, changed, "one byte for each symbol");
        }
    }

    @Test
    void theHostsRocksDbHasSuchSymbols() throws IOException {
        int found = 0;
        try (DirectoryStream<Path> libraries =
                Files.newDirectoryStream(Path.of(System.getProperty("plugin.host")), "rocksdbjni-*.jar")) {
            for (Path library : libraries) {
                byte[] bytes = entry(library, "librocksdbjni-linux64.so");
                found += ElfSymbols.countUnique(bytes, EngineLoader.ROCKSDB_NAMESPACE);
            }
        }
        assertTrue(found > 0);
    }

    @Test
    void whatIsNoElfFileIsRefused() {
        byte[] text = "not a library, but long enough to be looked at as if it were one....".getBytes();
        byte[] same = text.clone();
        assertThrows(IOException.class, () -> ElfSymbols.separate(text, ""));
        assertArrayEquals(same, text);
        assertThrows(IOException.class, () -> ElfSymbols.separate(new byte[3], ""));
    }
}
