package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.PluginVolumeFile;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.w3c.dom.Element;

/** What the plugin and sdfs-check read from a volume file of SDFS. */
class PluginSettingsTest {
    private static final String STORE = "org.opendedup.sar.plugin.SarChunkStore";

    @TempDir
    Path folder;

    private static String xml(String store, String chunkStore, String extended) {
        return "<subsystem-config version=\"3.12.0\"><io hash-type=\"VARIABLE_SHA256\"/><volume name=\"pool0\"/>"
                + "<local-chunkstore chunkstore-class=\""
                + store + "\" hashdb-class=\"" + SarHashesMap.class.getName() + "\" " + chunkStore
                + "><extended-config " + extended
                + "/></local-chunkstore></subsystem-config>";
    }

    private Optional<VolumeConfig.Locations> locations(String xml) throws Exception {
        Path file = folder.resolve("pool0-volume-cfg.xml");
        Files.writeString(file, xml);
        return PluginVolumeFile.store(file).map(PluginStore::locations);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "chunk-store=\"/c\" hash-db-store=\"/h\" | ",
                "chunk-store=\"/c\" | ",
                "chunk-store=\"/c\" hash-db-store=\"/h\" | sar-data-location=\"/data\"",
                "chunk-store=\"/c\" | sar-metadata-location=\"/fast/m\" sar-index-location=\"/fast/i\"",
                " | sar-data-location=\"/d\" sar-metadata-location=\"/m\" sar-index-location=\"/i\"",
            })
    void bothReadTheSameLocations(String attributes) throws Exception {
        List<String> parts = List.of(attributes.split("\\|", -1));
        String xml = xml(STORE, parts.get(0), parts.get(1));
        Element config = (Element) DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)))
                .getElementsByTagName("extended-config")
                .item(0);
        VolumeConfig.Locations read = PluginVolumeFile.of(config).locations();
        VolumeConfig.Locations found = locations(xml).orElseThrow();
        assertEquals(read, found);
    }

    @Test
    void anotherStoreIsNotThePlugins() throws Exception {
        assertEquals(
                Optional.empty(),
                locations(xml("org.opendedup.sdfs.filestore.BatchFileChunkStore", "chunk-store=\"/c\"", "")));
        assertEquals(Optional.empty(), locations("<volume/>"));
        assertEquals(Optional.empty(), locations("no XML"));
    }
}
