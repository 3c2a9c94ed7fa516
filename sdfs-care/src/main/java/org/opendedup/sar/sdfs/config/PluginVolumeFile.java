package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * The volume file of an OpenDedup SDFS whose chunks the plugin stores, as the plugin, {@code sdfscli},
 * {@code sdfs-check} and {@code sar-plugin} read it. Checked when it is made.
 */
public final class PluginVolumeFile {
    /** Names the chunk store of the plugin: {@code chunkstore-class} on {@code <local-chunkstore>}. */
    public static final String STORE_CLASS = "org.opendedup.sar.plugin.SarChunkStore";

    /** Names the index of the plugin: {@code hashdb-class} on {@code <local-chunkstore>}. */
    public static final String INDEX_CLASS = "org.opendedup.sar.plugin.SarHashesMap";

    static final String ELEMENT = "extended-config";
    static final String STORE = "local-chunkstore";
    private static final String CHUNKS = "chunk-store";

    /** The options that {@link PluginStore} has. */
    private static final List<VolumeOption<?>> OF_STORE = List.of(
            VolumeOptions.DATA_LOCATION,
            VolumeOptions.METADATA_LOCATION,
            VolumeOptions.INDEX_LOCATION,
            VolumeOptions.ENCRYPTED);

    /** SDFS's process has a heap of its own, which it does not know to be shared. */
    private static final long MEMORY_BYTES = 1L << 30;

    /** SDFS's sizes if its volume file has none, in KiB. */
    private static final int PAGE_KB = 256;

    private static final int LEAST_CHUNK_KB = 4;

    private final Element config;
    private final OptionValues given;
    private final ContentHash hash;
    private final VolumeDefinition definition;

    private PluginVolumeFile(Element config) {
        this.config = config;
        Element store = config.getParentNode() instanceof Element parent ? parent : config;
        check(
                !Boolean.parseBoolean(attribute(store, "encrypt")),
                "the volume is to be encrypted by SDFS's own store (encrypt=\"true\" on <local-chunkstore>): the chunk"
                        + " store of SAR has keys of its own. Set encrypt=\"false\", and sar-encrypt=\"true\" on"
                        + " <extended-config>");
        check(
                INDEX_CLASS.equals(attribute(store, "hashdb-class")),
                "the chunk store of SAR works only with the index of SAR, which counts references: set hashdb-class on"
                        + " <local-chunkstore> to " + INDEX_CLASS);
        hash = hash(attribute("io", "hash-type"));
        given = given(config);
        check(
                given.get(VolumeOptions.INDEX) != IndexClass.SILO,
                VolumeOptions.INDEX.ofPlugin() + ": silo is not for this volume: it finds duplicates by segments of a"
                        + " file, and SDFS brings chunks one by one. Use rocksdb or chunkstash");
        given.find(VolumeOptions.INDEX_PARAMETERS)
                .ifPresent(parameters -> parameters.checkAgainst(given.get(VolumeOptions.INDEX)));
        definition = new VolumeDefinition(complete(store));
        checkSecretSources();
        requireMemory();
    }

    private void checkSecretSources() {
        List<String> sources = PluginOptions.SECRET_SOURCES.stream()
                .filter(given::isSet)
                .map(VolumeOption::ofPlugin)
                .toList();
        check(sources.size() <= 1, "give one of " + String.join(" and ", sources));
        check(
                sources.isEmpty() || definition.isEncrypted(),
                String.join("", sources) + " is for an encrypted volume: set " + VolumeOptions.ENCRYPTED.ofPlugin()
                        + "=\"true\", or leave it out");
    }

    /** A budget that is too small for the threads is a wrong setting as well. */
    private void requireMemory() {
        try {
            var unused = MemoryPlan.ofChunks(engineConfig());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(VolumeOptions.MEMORY_BUDGET.ofPlugin() + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads and checks the settings of a volume.
     *
     * @param config the element {@code <extended-config>}, in the file or alone
     * @throws IOException if SDFS is to encrypt, has another index or fingerprints that are not known here, if a name
     *     or a value is wrong, or no location can be found; the message says which and what to do
     */
    public static PluginVolumeFile of(Element config) throws IOException {
        try {
            return new PluginVolumeFile(config);
        } catch (IllegalArgumentException e) {
            throw new IOException("the settings of SAR in SDFS's volume file: " + e.getMessage(), e);
        }
    }

    /**
     * Returns where the chunks are, and whether they are encrypted; nothing else is read and checked.
     *
     * @return empty if it is no volume file of OpenDedup SDFS, or its chunks are not stored by the plugin
     * @throws IOException if the file cannot be read, or does not say where the chunks are
     */
    public static Optional<PluginStore> store(Path file) throws IOException {
        Document document;
        try {
            document = parse(Files.readString(file));
        } catch (SAXException | CharacterCodingException e) {
            return Optional.empty(); // The reader of our own files says what is wrong.
        }
        Element store = first(document, STORE);
        if (store == null || !STORE_CLASS.equals(attribute(store, "chunkstore-class"))) {
            return Optional.empty();
        }
        Element extended = first(document, ELEMENT);
        OptionValues set = OptionValues.NONE;
        for (VolumeOption<?> option : OF_STORE) {
            String value = extended == null ? null : attribute(extended, option.ofPlugin());
            set = value == null ? set : PluginOptions.with(set, option.ofPlugin(), value);
        }
        try {
            OptionValues places = placed(set, store);
            return Optional.of(new PluginStore(
                    volume(document),
                    new VolumeConfig.Locations(
                            places.get(VolumeOptions.DATA_LOCATION),
                            places.get(VolumeOptions.METADATA_LOCATION),
                            places.get(VolumeOptions.INDEX_LOCATION)),
                    places.find(VolumeOptions.ENCRYPTED).orElse(false)));
        } catch (IllegalArgumentException e) {
            throw new VolumeFileException(file, 0, String.valueOf(e.getMessage()), e);
        }
    }

    /** Returns those of the folders with chunks, metadata and index that have something in them. */
    public static List<Path> usedFolders(VolumeConfig.Locations locations) throws IOException {
        List<Path> used = new ArrayList<>();
        for (Path folder : List.of(locations.data(), locations.metadata(), locations.hashDb())) {
            if (Files.isDirectory(folder)) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                    if (files.iterator().hasNext()) {
                        used.add(folder);
                    }
                }
            }
        }
        return used;
    }

    private static ContentHash hash(@Nullable String type) {
        String name = type == null ? "" : type.toUpperCase(Locale.ROOT);
        return switch (name) {
            case "VARIABLE_SHA256" -> ContentHash.SHA_256;
            case "VARIABLE_MD5" -> ContentHash.MD5;
            default ->
                throw new IllegalArgumentException("the volume's fingerprints are "
                        + (type == null ? "those that SDFS takes without hash-type on <io>" : type)
                        + ", by which the chunk store of SAR cannot verify chunks: make another volume, with hash-type"
                        + " VARIABLE_SHA256 or VARIABLE_MD5 on <io>");
        };
    }

    private static OptionValues given(Element config) {
        OptionValues values = OptionValues.NONE;
        NamedNodeMap attributes = config.getAttributes();
        for (int i = 0; i < attributes.getLength(); i++) {
            Node attribute = attributes.item(i);
            if (attribute.getNodeName().startsWith(PluginOptions.PREFIX)) {
                values = PluginOptions.with(values, attribute.getNodeName(), attribute.getNodeValue());
            }
        }
        return values;
    }

    /** Returns the values of all options that a volume has: those of the plugin, and what it takes for the others. */
    private OptionValues complete(Element store) {
        String size = attribute(store, "allocation-size");
        OptionValues values = placed(given, store);
        Path data = values.get(VolumeOptions.DATA_LOCATION);
        return values.compressed()
                .with(VolumeOptions.NAME, volume())
                .with(VolumeOptions.BASE_PATH, data.getParent() == null ? data : data.getParent())
                .with(VolumeOptions.MAXIMUM_FULL, 100)
                .with(VolumeOptions.OWNER, 0)
                .with(VolumeOptions.GROUP, 0)
                .with(VolumeOptions.CAPACITY, size == null ? Long.MAX_VALUE : VolumeOptions.CAPACITY.parse(size.trim()))
                .orElse(VolumeOptions.MEMORY_BUDGET, MEMORY_BYTES)
                .orElse(
                        VolumeOptions.WRITE_THREADS,
                        Math.max(2, Runtime.getRuntime().availableProcessors()))
                .orElse(VolumeOptions.SAR_ENABLED, given.isSet(VolumeOptions.SSD_LOCATION));
    }

    /** Returns values with the locations that were not given: below those of SDFS's own store. */
    private static OptionValues placed(OptionValues given, Element store) {
        String chunks = attribute(store, CHUNKS);
        String index = attribute(store, "hash-db-store");
        OptionValues values = placed(given, VolumeOptions.DATA_LOCATION, chunks, "data");
        values = placed(values, VolumeOptions.METADATA_LOCATION, chunks, "metadata");
        return placed(values, VolumeOptions.INDEX_LOCATION, index == null ? chunks : index, "index");
    }

    private static OptionValues placed(
            OptionValues values, VolumeOption<Path> option, @Nullable String store, String folder) {
        check(
                store != null || values.isSet(option),
                "it is not known where to store chunks: set " + option.ofPlugin() + " on <extended-config>, or "
                        + CHUNKS + " on <local-chunkstore>");
        return values.isSet(option) ? values : values.with(option, Path.of(store + "/sar/" + folder));
    }

    /** Returns the name of the volume in SDFS's file, as far as it can name a volume here. */
    public String volume() {
        return volume(config.getOwnerDocument());
    }

    private static String volume(Document document) {
        String name = attribute(document, "volume", "name");
        return name == null ? "sdfs" : name.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^[.-]", "_");
    }

    /** Returns the volume's name in JMX. */
    public String jmxName() {
        return given.find(PluginOptions.JMX_NAME).orElse(volume());
    }

    /** Returns the value of an option of {@link PluginOptions} that has a default, or is one of any volume. */
    public <T> T get(VolumeOption<T> option) {
        return given.isSet(option) || !definition.values().isSet(option)
                ? given.get(option)
                : definition.values().get(option);
    }

    /** Returns the values of all options that the plugin has, for reports. */
    public OptionValues values() {
        OptionValues all = definition.values();
        for (VolumeOption<?> option : PluginOptions.ALL) {
            all = all.isSet(option) ? all : copied(all, option);
        }
        return all.with(PluginOptions.JMX_NAME, jmxName());
    }

    private <T> OptionValues copied(OptionValues values, VolumeOption<T> option) {
        return values.with(option, given.find(option).orElse(null));
    }

    /** Returns the settings that any volume has. */
    public VolumeDefinition definition() {
        return definition;
    }

    /** Returns the settings with which the engine makes and opens the volume. */
    public VolumeConfig engineConfig() {
        return definition.engineConfig().withHash(hash);
    }

    /** Returns what commands know of the volume. */
    public PluginStore store() {
        return new PluginStore(volume(), locations(), definition.isEncrypted());
    }

    /** Returns the folders that only the engine has. */
    public VolumeConfig.Locations locations() {
        return engineConfig().locations();
    }

    /** Returns where SDFS's own chunk store would be; empty if that is not known. */
    public String hostChunks() {
        String chunks = config.getParentNode() instanceof Element store ? attribute(store, CHUNKS) : null;
        return chunks == null ? "" : chunks;
    }

    /** Returns where SDFS has the maps of its files; empty if that is not known. */
    public String hostMaps() {
        String maps = attribute("locations", "dedup-db-store");
        return maps == null ? "" : maps;
    }

    /** Returns the bytes of a page of a file of SDFS, in KiB. */
    public int pageKb() {
        return number("chunk-size", PAGE_KB);
    }

    /** Returns the least bytes of a chunk of SDFS, in KiB. */
    public int leastChunkKb() {
        return number("min-variable-segment-size", LEAST_CHUNK_KB);
    }

    private int number(String name, int otherwise) {
        String value = attribute("io", name);
        return value == null ? otherwise : OptionKind.integer(name).parser().apply(value.trim());
    }

    /** Returns an attribute of the first element with this tag in the file. */
    private @Nullable String attribute(String tag, String name) {
        return attribute(config.getOwnerDocument(), tag, name);
    }

    private static @Nullable String attribute(Document document, String tag, String name) {
        Element found = first(document, tag);
        return found == null ? null : attribute(found, name);
    }

    static Document parse(String text) throws SAXException, IOException {
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

    static @Nullable Element first(Document in, String name) {
        return in.getElementsByTagName(name).item(0) instanceof Element element ? element : null;
    }

    static @Nullable String attribute(Element element, String name) {
        String value = element.getAttribute(name);
        return value.isEmpty() ? null : value;
    }
}
