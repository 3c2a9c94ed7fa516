package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/** The writer of {@link VolumeFile}: converts a definition to text, one line per element. */
final class VolumeFileWriter {
    /** Name of the root element. */
    static final String ROOT = "subsystem-config";

    /** Version of the format, in the root element. */
    static final int VERSION = 2;

    private VolumeFileWriter() {}

    static String text(VolumeDefinition definition) throws IOException {
        var text = new StringWriter();
        try {
            XMLStreamWriter writer = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
            writer.writeStartDocument("UTF-8", "1.0");
            start(writer, 0, ROOT, Map.of("version", VERSION));
            writeBody(writer, definition);
            end(writer, 0);
            writer.writeEndDocument();
            writer.writeCharacters("\n");
            writer.close();
        } catch (XMLStreamException e) {
            throw new IOException("the volume file cannot be written as XML", e);
        }
        return text.toString();
    }

    private static void writeBody(XMLStreamWriter writer, VolumeDefinition definition) throws XMLStreamException {
        VolumeConfig config = definition.config();
        Compression compression = config.compression();
        empty(
                writer,
                "locations",
                attributes(
                        "base-path", definition.basePath(),
                        "dedup-db-store", config.locations().metadata()));
        empty(
                writer,
                "io",
                attributes(
                        "chunk-size", ByteSize.exact(config.pageBytes()),
                        "hash-type", config.chunking().name(),
                        "write-threads", config.writeThreads(),
                        "memory-budget", ByteSize.exact(config.memoryBudgetBytes()),
                        "claim-hash-schedule", definition.garbageCollectionSchedule(),
                        "scrub-schedule", definition.scrubSchedule()));
        empty(
                writer,
                "permissions",
                attributes(
                        "default-file", octal(definition.fileMode()),
                        "default-folder", octal(config.root().mode()),
                        "default-owner", config.root().uid(),
                        "default-group", config.root().gid()));
        empty(
                writer,
                "volume",
                attributes(
                        "name", config.name(),
                        "capacity", ByteSize.exact(config.capacityBytes()),
                        "maximum-percentage-full", config.maximumFullPercentage()));
        empty(writer, "sdfscli", attributes("enable", false));
        empty(
                writer,
                "metadata-backup",
                attributes(
                        "interval", definition.backups().intervalText(),
                        "keep", definition.backups().keep()));
        start(writer, 1, "local-chunkstore", storeAttributes(definition));
        indent(writer, 2);
        writer.writeEmptyElement("extended-config");
        writer.writeAttribute("frame-size", ByteSize.exact(compression.frameBytes()));
        end(writer, 1);
        empty(writer, "sar", sarAttributes(definition.sar()));
        if (!definition.raw().equals(RawSettings.NONE)) {
            empty(writer, "fast-tier", rawAttributes(definition.raw()));
        }
        empty(writer, "restore", restoreAttributes(definition.restore()));
    }

    private static Map<String, Object> storeAttributes(VolumeDefinition definition) {
        VolumeConfig config = definition.config();
        Map<String, Object> attributes = attributes(
                "chunk-store", config.locations().data(),
                "hash-db-store", config.locations().hashDb(),
                "hashdb-class", definition.indexName());
        IndexPlacement placement = config.indexPlacement();
        if (placement.isBounded()) {
            attributes.put("index-ssd-capacity", ByteSize.exact(placement.ssdCapacityBytes()));
        }
        attributes.putAll(attributes(
                "compress", XmlElement.spelling(config.compression().codec()),
                "compress-level", config.compression().level(),
                "recompress", definition.recompress()));
        return attributes;
    }

    private static Map<String, Object> sarAttributes(SarSettings sar) {
        TierSettings tier = sar.tier();
        Map<String, Object> attributes = attributes("enabled", tier.enabled());
        if (sar.ssdLocation() != null) {
            attributes.put("ssd-location", sar.ssdLocation());
            attributes.put("ssd-capacity", ByteSize.exact(tier.capacityBytes()));
        }
        attributes.putAll(attributes(
                "reference-count-threshold", tier.referenceCountThreshold(),
                "max-run", ByteSize.exact(tier.maxRunBytes()),
                "promote-on-read", tier.promoteOnRead(),
                "lru-entries", tier.lruEntries(),
                "policy", XmlElement.spelling(tier.policy())));
        return attributes;
    }

    private static Map<String, Object> rawAttributes(RawSettings raw) {
        return attributes(
                "mode", raw.placement(),
                "capacity", ByteSize.exact(raw.capacityBytes()),
                "high", raw.highPercent(),
                "low", raw.lowPercent(),
                "journal", JournalTime.text(raw.copyAfterS()),
                "policy", raw.rule());
    }

    private static Map<String, Object> restoreAttributes(RestoreSettings restore) {
        Map<String, Object> attributes = attributes("cache", XmlElement.spelling(restore.cache()));
        restore.cacheBytes().ifPresent(bytes -> attributes.put("cache-size", ByteSize.exact(bytes)));
        restore.windowBytes().ifPresent(bytes -> attributes.put("window", ByteSize.exact(bytes)));
        attributes.put("log-share", restore.logShare());
        attributes.put("disk", restore.disk());
        return attributes;
    }

    /** Returns a map of alternating names and values, in their order. */
    private static Map<String, Object> attributes(Object... namesAndValues) {
        var attributes = new LinkedHashMap<String, Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            attributes.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return attributes;
    }

    private static String octal(int mode) {
        return String.format(Locale.ROOT, "%04o", mode);
    }

    private static void empty(XMLStreamWriter writer, String name, Map<String, Object> attributes)
            throws XMLStreamException {
        indent(writer, 1);
        writer.writeEmptyElement(name);
        writeAttributes(writer, attributes);
    }

    private static void start(XMLStreamWriter writer, int depth, String name, Map<String, ?> attributes)
            throws XMLStreamException {
        indent(writer, depth);
        writer.writeStartElement(name);
        writeAttributes(writer, attributes);
    }

    private static void writeAttributes(XMLStreamWriter writer, Map<String, ?> attributes) throws XMLStreamException {
        for (Map.Entry<String, ?> attribute : attributes.entrySet()) {
            writer.writeAttribute(attribute.getKey(), attribute.getValue().toString());
        }
    }

    private static void end(XMLStreamWriter writer, int depth) throws XMLStreamException {
        indent(writer, depth);
        writer.writeEndElement();
    }

    private static void indent(XMLStreamWriter writer, int depth) throws XMLStreamException {
        writer.writeCharacters("\n" + "  ".repeat(depth));
    }
}
