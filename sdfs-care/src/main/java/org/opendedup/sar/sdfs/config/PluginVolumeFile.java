package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * The volume file of an OpenDedup SDFS whose chunks the plugin stores: only where these are. The rules are those of the
 * plugin (docs/PLUGIN.md).
 */
public final class PluginVolumeFile {
    private static final String STORE_CLASS = "org.opendedup.sar.plugin.SarChunkStore";

    private PluginVolumeFile() {}

    /**
     * Returns the locations of the chunks.
     *
     * @return empty if it is no volume file of OpenDedup SDFS, or its chunks are not stored by the plugin
     * @throws IOException if the file cannot be read, or does not say where the chunks are
     */
    public static Optional<VolumeConfig.Locations> locations(Path file) throws IOException {
        Document document;
        try {
            document = parse(Files.readString(file));
        } catch (SAXException | CharacterCodingException e) {
            return Optional.empty(); // The reader of our own files says what is wrong.
        }
        Element store = first(document.getDocumentElement(), "local-chunkstore");
        if (store == null || !STORE_CLASS.equals(attribute(store, "chunkstore-class"))) {
            return Optional.empty();
        }
        Element extended = first(store, "extended-config");
        String chunks = attribute(store, "chunk-store");
        String index = attribute(store, "hash-db-store");
        return Optional.of(new VolumeConfig.Locations(
                place(file, extended, "sar-data-location", chunks, "data"),
                place(file, extended, "sar-metadata-location", chunks, "metadata"),
                place(file, extended, "sar-index-location", index == null ? chunks : index, "index")));
    }

    private static Path place(
            Path file, @Nullable Element extended, String setting, @Nullable String store, String folder)
            throws IOException {
        String set = extended == null ? null : attribute(extended, setting);
        if (set == null && store == null) {
            throw new VolumeFileException(
                    file,
                    0,
                    "it is not known where the chunks are: there is neither " + setting + " nor a store",
                    null);
        }
        return set == null ? Path.of(store + "/sar/" + folder) : Path.of(set);
    }

    private static Document parse(String text) throws SAXException, IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            DocumentBuilder builder = factory.newDocumentBuilder();
            builder.setErrorHandler(new DefaultHandler());
            return builder.parse(new InputSource(new StringReader(text)));
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("the JDK's parser of XML has no such feature", e);
        }
    }

    private static @Nullable Element first(Element in, String name) {
        return in.getElementsByTagName(name).item(0) instanceof Element element ? element : null;
    }

    private static @Nullable String attribute(Element element, String name) {
        String value = element.getAttribute(name);
        return value.isEmpty() ? null : value;
    }
}
