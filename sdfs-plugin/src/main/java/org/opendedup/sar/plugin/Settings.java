package org.opendedup.sar.plugin;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;

/**
 * The settings of the plugin: attributes of {@code <extended-config>} whose names begin with {@code sar-}, and what
 * follows from the attributes of {@code <local-chunkstore>} around it. docs/PLUGIN.md describes them.
 */
public final class Settings {
    public static final String NAME = "sar-name";
    public static final String DATA = "sar-data-location";
    public static final String METADATA = "sar-metadata-location";
    public static final String INDEX = "sar-index-location";
    public static final String CAPACITY = "sar-capacity";
    public static final String MEMORY = "sar-memory-budget";
    public static final String WRITE_THREADS = "sar-write-threads";
    public static final String COMPRESSION = "sar-compression";
    public static final String COMPRESSION_LEVEL = "sar-compression-level";
    public static final String GRACE_MINUTES = "sar-grace-period-minutes";
    public static final String COLLECT = "sar-collect";
    public static final String READ_AHEAD = "sar-read-ahead";
    public static final String SSD = "sar-ssd-location";
    public static final String SSD_ATTACH = "sar-ssd-attach";
    public static final String SSD_CAPACITY = "sar-ssd-capacity";
    public static final String THRESHOLD = "sar-reference-count-threshold";
    public static final String LRU_ENTRIES = "sar-lru-entries";
    public static final String PROMOTE_ON_READ = "sar-promote-on-read";
    public static final String SCRUB_DAYS = "sar-scrub-interval-days";
    public static final String BACKUP_INTERVAL = "sar-metadata-backup-interval";
    public static final String BACKUPS_KEPT = "sar-metadata-backups-kept";

    /** Where SDFS's own chunk store would be; an attribute of {@code <local-chunkstore>}, not a setting of SAR. */
    public static final String HOST_CHUNKS = "chunk-store";

    /** Name of the volume in SDFS's volume file; an attribute of {@code <volume>}, not a setting of SAR. */
    public static final String HOST_VOLUME = "volume";

    /** Where SDFS has the maps of its files; an attribute of {@code <locations>}, not a setting of SAR. */
    public static final String HOST_MAPS = "dedup-db-store";

    /** Bytes of a page of a file, in KiB; an attribute of {@code <io>}, not a setting of SAR. */
    public static final String HOST_PAGE = "chunk-size";

    /** Least bytes of a chunk, in KiB; an attribute of {@code <io>}, not a setting of SAR. */
    public static final String HOST_LEAST_CHUNK = "min-variable-segment-size";

    private static final String PREFIX = "sar-";

    /** The only kind of fingerprints that the engine has, as SDFS names it. */
    private static final String FINGERPRINTS = "VARIABLE_SHA256";

    private static final Set<String> NAMES = new TreeSet<>(Set.of(
            NAME,
            DATA,
            METADATA,
            INDEX,
            CAPACITY,
            MEMORY,
            WRITE_THREADS,
            COMPRESSION,
            COMPRESSION_LEVEL,
            GRACE_MINUTES,
            COLLECT,
            READ_AHEAD,
            SSD,
            SSD_ATTACH,
            SSD_CAPACITY,
            THRESHOLD,
            LRU_ENTRIES,
            PROMOTE_ON_READ,
            SCRUB_DAYS,
            BACKUP_INTERVAL,
            BACKUPS_KEPT));

    /** SDFS's attribute for the size of its cache, and what SDFS takes if it is not there. */
    private static final String CACHE = "local-cache-size";

    private static final long DEFAULT_CACHE_BYTES = 10L << 30;

    /** Units of SDFS's sizes: powers of 1024. */
    private static final String UNITS = "KMGTP";

    private Settings() {}

    /**
     * Reads the settings of a volume.
     *
     * @param config the element {@code <extended-config>}
     * @throws IOException if the volume file asks for encryption, which this store does not do, for another index, or
     *     for other fingerprints; if a name that begins with {@code sar-} is no setting; or if no location can be found
     */
    static Map<String, String> of(Element config) throws IOException {
        Map<String, String> settings = new TreeMap<>();
        if (config.getParentNode() instanceof Element store) {
            if (Boolean.parseBoolean(attribute(store, "encrypt"))) {
                throw new IOException(
                        "the volume is to be encrypted (encrypt=\"true\" on <local-chunkstore>): the chunk"
                                + " store of SAR does not encrypt. Encrypt the disk below it, and set"
                                + " encrypt=\"false\"");
            }
            if (!SarHashesMap.class.getName().equals(attribute(store, "hashdb-class"))) {
                throw new IOException(
                        "the chunk store of SAR works only with the index of SAR, which counts references:"
                                + " set hashdb-class on <local-chunkstore> to " + SarHashesMap.class.getName());
            }
            String fingerprints = attribute(config, "io", "hash-type");
            if (!FINGERPRINTS.equalsIgnoreCase(fingerprints)) {
                throw new IOException("the volume's fingerprints are "
                        + (fingerprints == null ? "those that SDFS takes without hash-type on <io>" : fingerprints)
                        + ", and the chunk store of SAR verifies chunks by SHA-256: make another volume with hash-type "
                        + FINGERPRINTS + " on <io>");
            }
            String chunks = attribute(store, HOST_CHUNKS);
            String index = attribute(store, "hash-db-store");
            if (chunks != null) {
                settings.put(HOST_CHUNKS, chunks);
                settings.put(DATA, chunks + "/sar/data");
                settings.put(METADATA, chunks + "/sar/metadata");
                settings.put(INDEX, (index == null ? chunks : index) + "/sar/index");
            }
            String volume = nameOf(config);
            settings.put(NAME, volume);
            settings.put(HOST_VOLUME, volume);
            put(settings, CAPACITY, attribute(store, "allocation-size"));
            put(settings, HOST_MAPS, attribute(config, "locations", HOST_MAPS));
            put(settings, HOST_PAGE, attribute(config, "io", HOST_PAGE));
            put(settings, HOST_LEAST_CHUNK, attribute(config, "io", HOST_LEAST_CHUNK));
        }
        NamedNodeMap attributes = config.getAttributes();
        for (int i = 0; i < attributes.getLength(); i++) {
            Node attribute = attributes.item(i);
            if (attribute.getNodeName().startsWith(PREFIX)) {
                if (!NAMES.contains(attribute.getNodeName())) {
                    throw new IOException("there is no setting " + attribute.getNodeName()
                            + ", which <extended-config> has; there are " + String.join(", ", NAMES));
                }
                settings.put(attribute.getNodeName(), attribute.getNodeValue());
            }
        }
        if (!settings.containsKey(DATA) || !settings.containsKey(METADATA) || !settings.containsKey(INDEX)) {
            throw new IOException("it is not known where to store chunks: set " + DATA + ", " + METADATA + " and "
                    + INDEX + " on <extended-config>, or chunk-store on <local-chunkstore>");
        }
        return settings;
    }

    /**
     * Returns the size of SDFS's cache that the element names. It has no effect here, but SDFS writes what the store
     * answers into the file again, and could not read a size of 0 there with a store of its own.
     */
    static long cacheBytes(Element config) {
        String size = config.getAttribute(CACHE).trim().toUpperCase(Locale.ROOT);
        int unit = size.endsWith("B") && size.length() > 2 ? UNITS.indexOf(size.charAt(size.length() - 2)) : -1;
        if (unit < 0) {
            return DEFAULT_CACHE_BYTES;
        }
        try {
            String number = size.substring(0, size.length() - 2).trim().replace(',', '.');
            long bytes = (long) (Double.parseDouble(number) * (1L << 10 * (unit + 1)));
            return bytes > 0 ? bytes : DEFAULT_CACHE_BYTES;
        } catch (NumberFormatException e) {
            return DEFAULT_CACHE_BYTES;
        }
    }

    /** Returns the name of the volume in the file around the element, as far as JMX takes it. */
    private static String nameOf(Element config) {
        String name = attribute(config, "volume", "name");
        return name == null ? "sdfs" : name.replaceAll("[^A-Za-z0-9._-]", "_");
    }

    private static void put(Map<String, String> settings, String name, @Nullable String value) {
        if (value != null) {
            settings.put(name, value);
        }
    }

    /** Returns an attribute of the first element with this tag in the file around {@code config}. */
    private static @Nullable String attribute(Element config, String tag, String name) {
        Node found = config.getOwnerDocument().getElementsByTagName(tag).item(0);
        return found instanceof Element element ? attribute(element, name) : null;
    }

    private static @Nullable String attribute(Element element, String name) {
        String value = element.getAttribute(name);
        return value.isEmpty() ? null : value;
    }
}
