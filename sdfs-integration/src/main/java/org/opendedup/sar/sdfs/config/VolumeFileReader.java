package org.opendedup.sar.sdfs.config;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.MissingResourceException;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.raw.MigrationRule;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/** The reader of {@link VolumeFile}: parses text to elements, and elements to a definition. */
final class VolumeFileReader {
    private static final int DEPTH_MAX = 8;

    /** What an administrator does about a file that is no XML. */
    private static final String REMEDY = "; correct it, or move it away and have it written again from a copy:"
            + " mkfs.sdfs --recover FOLDER, the folder of the containers";

    private VolumeFileReader() {}

    static VolumeDefinition read(Path file, String text) throws VolumeFileException {
        XmlElement root = parse(file, text);
        try {
            return definition(root);
        } catch (IllegalArgumentException e) {
            throw new VolumeFileException(file, 0, String.valueOf(e.getMessage()), e);
        }
    }

    private static VolumeDefinition definition(XmlElement root) throws VolumeFileException {
        checkRoot(root);
        XmlElement locations = root.child("locations");
        XmlElement io = root.child("io");
        XmlElement permissions = root.child("permissions");
        XmlElement volume = root.child("volume");
        XmlElement store = root.child("local-chunkstore");
        XmlElement extended = store.child("extended-config");
        checkNoListener(root.child("sdfscli"));
        var config = new VolumeConfig(
                        volume.text("name"),
                        volume.size("capacity"),
                        volume.integer("maximum-percentage-full"),
                        new VolumeConfig.Locations(
                                store.path("chunk-store"),
                                locations.path("dedup-db-store"),
                                store.path("hash-db-store")),
                        chunking(io),
                        new Compression(
                                store.choice("compress", Compression.Codec.class),
                                store.integer("compress-level"),
                                intSize(extended, "frame-size")),
                        intSize(io, "chunk-size"),
                        io.size("memory-budget"),
                        io.integer("write-threads"),
                        new VolumeConfig.RootDirectory(
                                permissions.octal("default-folder"),
                                permissions.integer("default-owner"),
                                permissions.integer("default-group")))
                .withIndexPlacement(
                        new IndexPlacement(store.sizeIfAny("index-ssd-capacity").orElse(0)));
        var definition = new VolumeDefinition(
                config,
                locations.path("base-path"),
                store.text("hashdb-class"),
                io.text("claim-hash-schedule"),
                store.recompressIfAny("recompress"),
                permissions.octal("default-file"),
                sar(root.child("sar")),
                restore(root.child("restore")),
                backups(root.child("metadata-backup")),
                io.textIfAny("scrub-schedule", Schedule.SCRUBS_DEFAULT),
                raw(root.childIfAny("fast-tier")));
        for (XmlElement element : new XmlElement[] {locations, io, permissions, volume, extended, store, root}) {
            element.end();
        }
        return definition;
    }

    private static BackupSettings backups(XmlElement element) throws VolumeFileException {
        String interval = element.text("interval");
        int keep = element.integer("keep");
        element.end();
        try {
            return BackupSettings.of(interval, keep);
        } catch (IllegalArgumentException e) {
            throw element.problem(String.valueOf(e.getMessage()));
        }
    }

    private static void checkRoot(XmlElement root) throws VolumeFileException {
        if (!root.name().equals(VolumeFileWriter.ROOT)) {
            throw root.problem("the root element is <" + root.name() + ">, not <" + VolumeFileWriter.ROOT + ">");
        }
        String written = root.text("version");
        // OpenDedup writes the version of its program.
        if (!written.matches("\\d{1,9}")) {
            throw root.problem("this is a volume of OpenDedup SDFS (version '" + written + "'), which only its own "
                    + "mount.sdfs can mount. To move its files here, make a volume with another name, mount both, "
                    + "and copy the files. docs/PLUGIN.md says how OpenDedup SDFS uses this engine");
        }
        int version = Integer.parseInt(written);
        if (version != VolumeFileWriter.VERSION) {
            throw root.problem("version " + version + " of the volume file is not known; this program reads version "
                    + VolumeFileWriter.VERSION);
        }
    }

    private static void checkNoListener(XmlElement sdfscli) throws VolumeFileException {
        if (sdfscli.bool("enable")) {
            throw sdfscli.problem("there is no network listener; <sdfscli> must have enable=\"false\"");
        }
        sdfscli.end();
    }

    private static Chunking chunking(XmlElement io) throws VolumeFileException {
        String name = io.text("hash-type");
        for (Chunking chunking : Chunking.values()) {
            if (chunking.name().equals(name)) {
                return chunking;
            }
        }
        throw io.problem("attribute hash-type of <io> is '" + name + "', not VARIABLE_SHA256 or SHA256");
    }

    private static int intSize(XmlElement element, String attribute) throws VolumeFileException {
        long size = element.size(attribute);
        if (size > Integer.MAX_VALUE) {
            throw element.problem("attribute " + attribute + " of <" + element.name() + "> is too large");
        }
        return (int) size;
    }

    private static SarSettings sar(XmlElement element) throws VolumeFileException {
        var settings = new SarSettings(
                element.pathIfAny("ssd-location"),
                new TierSettings(
                        element.bool("enabled"),
                        element.sizeIfAny("ssd-capacity").orElse(0),
                        element.integer("reference-count-threshold"),
                        intSize(element, "max-run"),
                        element.bool("promote-on-read"),
                        element.integer("lru-entries"),
                        element.choice("policy", TierSettings.Policy.class)));
        element.end();
        return settings;
    }

    private static RawSettings raw(@Nullable XmlElement element) throws VolumeFileException {
        if (element == null) {
            return RawSettings.NONE;
        }
        Placement mode = element.choice("mode", Placement.class);
        long capacityBytes = element.size("capacity");
        int highPercent = element.integer("high");
        int lowPercent = element.integer("low");
        int copyAfterS = element.journal("journal");
        MigrationRule rule = element.choiceIfAny("policy", MigrationRule.class, MigrationRule.LRU);
        element.end();
        try {
            return new RawSettings(mode, capacityBytes, highPercent, lowPercent, copyAfterS, rule);
        } catch (IllegalArgumentException e) {
            throw element.problem(String.valueOf(e.getMessage()));
        }
    }

    private static RestoreSettings restore(XmlElement element) throws VolumeFileException {
        var settings = new RestoreSettings(
                element.choice("cache", CachePolicy.class),
                element.sizeIfAny("cache-size"),
                element.sizeIfAny("window"),
                element.decimal("log-share"),
                element.diskIfAny("disk"));
        element.end();
        return settings;
    }

    private static XmlElement parse(Path file, String text) throws VolumeFileException {
        var factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        try {
            XMLStreamReader reader = factory.createXMLStreamReader(new StringReader(text));
            while (reader.next() != XMLStreamConstants.START_ELEMENT) {
                checkHarmless(file, reader);
            }
            XmlElement root = element(file, reader, 1);
            while (reader.hasNext()) {
                reader.next();
                checkHarmless(file, reader);
            }
            return root;
        } catch (XMLStreamException e) {
            int line = e.getLocation() == null ? 0 : e.getLocation().getLineNumber();
            throw new VolumeFileException(file, line, "not well-formed XML: " + firstLine(e) + REMEDY, e);
        } catch (MissingResourceException e) {
            // The JDK's parser lacks the text of some of its own messages, among them those about a DOCTYPE.
            throw new VolumeFileException(file, 0, "not well-formed XML: " + e.getKey() + REMEDY, e);
        }
    }

    private static XmlElement element(Path file, XMLStreamReader reader, int depth)
            throws XMLStreamException, VolumeFileException {
        var element = new XmlElement(file, reader.getLocation().getLineNumber(), reader.getLocalName());
        if (depth > DEPTH_MAX) {
            throw element.problem("elements nested deeper than " + DEPTH_MAX);
        }
        for (int i = 0; i < reader.getAttributeCount(); i++) {
            element.addAttribute(reader.getAttributeLocalName(i), reader.getAttributeValue(i));
        }
        while (reader.next() != XMLStreamConstants.END_ELEMENT) {
            if (reader.getEventType() == XMLStreamConstants.START_ELEMENT) {
                element.addChild(element(file, reader, depth + 1));
            } else {
                checkHarmless(file, reader);
            }
        }
        return element;
    }

    /** Refuses all events except comments, white space and the end of the document: their meaning is not known. */
    private static void checkHarmless(Path file, XMLStreamReader reader) throws VolumeFileException {
        int event = reader.getEventType();
        boolean harmless = event == XMLStreamConstants.COMMENT
                || event == XMLStreamConstants.SPACE
                || event == XMLStreamConstants.END_DOCUMENT
                || (event == XMLStreamConstants.CHARACTERS && reader.isWhiteSpace());
        if (!harmless) {
            String what = event == XMLStreamConstants.DTD ? "a DOCTYPE is not allowed" : "text is not allowed here";
            throw new VolumeFileException(file, reader.getLocation().getLineNumber(), what, null);
        }
    }

    private static String firstLine(XMLStreamException e) {
        String message = String.valueOf(e.getMessage());
        // The JDK puts "ParseError at [row,col]:[..]\nMessage: " in front of the message.
        int start = message.indexOf("Message: ");
        return (start < 0 ? message : message.substring(start + "Message: ".length()))
                .lines()
                .findFirst()
                .orElse("");
    }
}
