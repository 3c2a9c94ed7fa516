package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.xml.sax.SAXException;

/**
 * Makes the plugin store the chunks of a volume of OpenDedup SDFS, and undoes that, in the text of SDFS's volume file.
 * The classes that were there before are kept as attributes, which SDFS keeps, too.
 */
public final class PluginSwitch {
    private static final String STORE_CLASS = "chunkstore-class";
    private static final String INDEX_CLASS = "hashdb-class";

    /** Begins the attributes that have the classes of before; empty: there was no such attribute. */
    private static final String FORMER = "former-";

    /** The classes of SDFS 3.12 itself, where nothing is known of before. */
    private static final Map<String, String> OF_SDFS = Map.of(
            STORE_CLASS, "org.opendedup.sdfs.filestore.BatchFileChunkStore",
            INDEX_CLASS, "org.opendedup.collections.RocksDBMap");

    private static final Map<String, String> OF_PLUGIN =
            Map.of(STORE_CLASS, PluginVolumeFile.STORE_CLASS, INDEX_CLASS, PluginVolumeFile.INDEX_CLASS);

    private final String text;
    private final Element store;
    private final Element extended;

    /**
     * @param text a volume file of OpenDedup SDFS
     * @throws IOException if it is none; the message says what is missing
     */
    public PluginSwitch(String text) throws IOException {
        this.text = text;
        try {
            Document document = PluginVolumeFile.parse(text);
            store = required(document, PluginVolumeFile.STORE);
            extended = required(document, PluginVolumeFile.ELEMENT);
            String encoding = document.getXmlEncoding();
            if (encoding != null && !encoding.equalsIgnoreCase("UTF-8")) {
                throw new IOException("the volume file says that its encoding is " + encoding + ", and SDFS writes"
                        + " UTF-8: convert it");
            }
        } catch (SAXException e) {
            throw new IOException("it is no volume file of OpenDedup SDFS: " + e.getMessage(), e);
        }
        if (extended.getParentNode() != store || PluginVolumeFile.attribute(store, "chunk-store") == null) {
            throw new IOException("it is no volume file of OpenDedup SDFS: <extended-config> is not in a"
                    + " <local-chunkstore> with chunk-store");
        }
    }

    private static Element required(Document document, String element) throws IOException {
        Element found = PluginVolumeFile.first(document, element);
        if (found == null) {
            throw new IOException("it is no volume file of OpenDedup SDFS: there is no <" + element + ">");
        }
        return found;
    }

    /** Returns whether the plugin stores the chunks. */
    public boolean isEnabled() {
        return OF_PLUGIN.entrySet().stream()
                .allMatch(each -> each.getValue().equals(store.getAttribute(each.getKey())));
    }

    /** Returns where SDFS's own chunk store is. */
    public Path hostChunks() {
        return Path.of(store.getAttribute("chunk-store"));
    }

    /** Returns the name of the volume in the file; null if it has none. */
    public @Nullable String volume() {
        Element volume = PluginVolumeFile.first(store.getOwnerDocument(), "volume");
        return volume == null ? null : PluginVolumeFile.attribute(volume, "name");
    }

    /**
     * Returns the file with which the plugin stores the chunks. Settings that it has and that are not named stay.
     *
     * @param settings values by attribute of {@link PluginOptions}
     * @throws IOException if a setting is wrong, or the volume is not for the plugin; the message says what to do
     */
    public String enabled(Map<String, String> settings) throws IOException {
        Map<String, Optional<String>> classes = new LinkedHashMap<>();
        Map<String, Optional<String>> more = new LinkedHashMap<>();
        OF_PLUGIN.forEach((attribute, name) -> {
            if (!name.equals(store.getAttribute(attribute))) {
                classes.put(attribute, Optional.of(name));
                more.put(FORMER + attribute, Optional.of(store.getAttribute(attribute)));
            }
        });
        // Another source of the passphrase takes the place of the one before.
        if (PluginOptions.SECRET_SOURCES.stream().anyMatch(source -> settings.containsKey(source.ofPlugin()))) {
            PluginOptions.SECRET_SOURCES.forEach(source -> more.put(source.ofPlugin(), Optional.empty()));
        }
        settings.forEach((attribute, value) -> more.put(attribute, Optional.of(value)));
        String changed = changed(classes, more);
        try {
            Element config = PluginVolumeFile.first(PluginVolumeFile.parse(changed), PluginVolumeFile.ELEMENT);
            if (config == null) {
                throw new IllegalStateException("the changed file lost an element");
            }
            var unused = PluginVolumeFile.of(config);
        } catch (SAXException e) {
            throw new IOException("a setting has a character that XML cannot have: " + e.getMessage(), e);
        }
        return changed;
    }

    /** Returns the file with which SDFS stores the chunks as before, without any setting of the plugin. */
    public String disabled() {
        Map<String, Optional<String>> classes = new LinkedHashMap<>();
        Map<String, Optional<String>> more = new LinkedHashMap<>();
        OF_PLUGIN.forEach((attribute, name) -> {
            if (name.equals(store.getAttribute(attribute))) {
                String former = extended.hasAttribute(FORMER + attribute)
                        ? extended.getAttribute(FORMER + attribute)
                        : OF_SDFS.get(attribute);
                classes.put(attribute, Optional.ofNullable(former).filter(known -> !known.isEmpty()));
            }
            more.put(FORMER + attribute, Optional.empty());
        });
        NamedNodeMap attributes = extended.getAttributes();
        for (int i = 0; i < attributes.getLength(); i++) {
            String name = attributes.item(i).getNodeName();
            if (name.startsWith(PluginOptions.PREFIX)) {
                more.put(name, Optional.empty());
            }
        }
        return changed(classes, more);
    }

    private String changed(Map<String, Optional<String>> ofStore, Map<String, Optional<String>> ofExtended) {
        return TagEdit.changed(
                TagEdit.changed(text, PluginVolumeFile.STORE, ofStore), PluginVolumeFile.ELEMENT, ofExtended);
    }
}
