package org.opendedup.sar.sdfs.config;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.MissingResourceException;
import java.util.Objects;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

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
        checkNoListener(root.child("sdfscli"));
        var elements = new LinkedHashMap<String, @Nullable XmlElement>();
        OptionValues values = OptionValues.NONE;
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (!option.isStored()) {
                continue;
            }
            String path = option.element();
            if (!elements.containsKey(path)) {
                elements.put(path, find(path, root, elements));
            }
            XmlElement element = elements.get(path);
            if (element != null) {
                values = element.read(option, values);
            }
        }
        for (XmlElement element : elements.values()) {
            if (element != null) {
                element.end();
            }
        }
        root.end();
        return new VolumeDefinition(values);
    }

    /** Removes and returns an element; null if the volume has none and needs none. */
    private static @Nullable XmlElement find(String path, XmlElement root, Map<String, @Nullable XmlElement> found)
            throws VolumeFileException {
        int slash = path.lastIndexOf('/');
        XmlElement parent = slash < 0 ? root : Objects.requireNonNull(found.get(path.substring(0, slash)));
        String name = path.substring(slash + 1);
        return path.equals(VolumeFileWriter.FAST_TIER) ? parent.childIfAny(name) : parent.child(name);
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
        if (!sdfscli.text("enable").equals("false")) {
            throw sdfscli.problem("there is no network listener; <sdfscli> must have enable=\"false\"");
        }
        sdfscli.end();
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
