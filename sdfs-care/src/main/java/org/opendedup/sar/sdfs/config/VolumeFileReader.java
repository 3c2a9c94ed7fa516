package org.opendedup.sar.sdfs.config;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.MissingResourceException;
import java.util.Objects;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * The reader of {@link VolumeFile}: parses text to elements, and takes their attributes one by one, with the expected
 * type. What is left then is refused.
 */
final class VolumeFileReader {
    private static final int DEPTH_MAX = 8;

    /** What an administrator does about a file that is no XML. */
    private static final String REMEDY = "; correct it, or move it away and have it written again from a copy:"
            + " mkfs.sdfs --recover FOLDER, the folder of the containers";

    /** Path of the root element in {@link #elements}; those of the others begin below it. */
    private static final String ROOT = "";

    private final Path file;
    /** The elements by their paths, in the order of the file. */
    private final Map<String, Element> elements = new LinkedHashMap<>();

    /** @param attributes those that were not taken yet */
    private record Element(int line, String name, Map<String, String> attributes) {}

    VolumeFileReader(Path file) {
        this.file = file;
    }

    VolumeDefinition read(String text) throws VolumeFileException {
        parse(text);
        try {
            return definition();
        } catch (IllegalArgumentException e) {
            throw new VolumeFileException(file, 0, String.valueOf(e.getMessage()), e);
        }
    }

    private VolumeDefinition definition() throws VolumeFileException {
        checkVersion();
        Element listener = element("sdfscli");
        if (!take(listener, "enable").equals("false")) {
            throw problem(listener, "there is no network listener; <sdfscli> must have enable=\"false\"");
        }
        var left = new LinkedHashMap<>(elements);
        left.remove(ROOT);
        left.remove("sdfscli");
        OptionValues values = OptionValues.NONE;
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (option.isStored() && !isLacking(option.element())) {
                values = read(element(option.element()), option, values);
                left.remove(option.element());
            }
        }
        for (Map.Entry<String, Element> unknown : left.entrySet()) {
            Element parent = Objects.requireNonNull(elements.get(parentOf(unknown.getKey())));
            throw problem(
                    unknown.getValue(),
                    "an unknown element <" + unknown.getValue().name + "> in <" + parent.name + ">");
        }
        for (Element element : elements.values()) {
            for (String attribute : element.attributes.keySet()) {
                throw problem(element, "<" + element.name + "> has an unknown attribute " + attribute);
            }
        }
        return new VolumeDefinition(values);
    }

    private boolean isLacking(String element) {
        return VolumeOptions.OPTIONAL_ELEMENTS.contains(element) && !elements.containsKey(element);
    }

    private void checkVersion() throws VolumeFileException {
        Element root = element(ROOT);
        String written = take(root, "version");
        // OpenDedup writes the version of its program.
        if (!written.matches("\\d{1,9}")) {
            throw problem(
                    root,
                    "this is a volume of OpenDedup SDFS (version '" + written + "'), which only its own "
                            + "mount.sdfs can mount. To move its files here, make a volume with another name, mount "
                            + "both, and copy the files. docs/PLUGIN.md says how OpenDedup SDFS uses this engine");
        }
        int version = Integer.parseInt(written);
        if (version != VolumeFile.VERSION) {
            throw problem(
                    root,
                    "version " + version + " of the volume file is not known; this program reads version "
                            + VolumeFile.VERSION);
        }
    }

    private Element element(String path) throws VolumeFileException {
        Element element = elements.get(path);
        if (element == null) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            Element parent = element(parentOf(path));
            throw problem(parent, "<" + parent.name + "> lacks its element <" + name + ">");
        }
        return element;
    }

    private static String parentOf(String path) {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }

    private String take(Element element, String attribute) throws VolumeFileException {
        String value = element.attributes.remove(attribute);
        if (value == null) {
            throw problem(element, "<" + element.name + "> lacks its attribute " + attribute);
        }
        return value;
    }

    /** Takes the attribute of an option, and returns the values with it. */
    private <T> OptionValues read(Element element, VolumeOption<T> option, OptionValues values)
            throws VolumeFileException {
        String attribute = option.attribute();
        if (!element.attributes.containsKey(attribute) && (option.mayBeAbsent() || option.isAdded())) {
            return values;
        }
        String text = take(element, attribute);
        try {
            return values.withText(option, text);
        } catch (IllegalArgumentException e) {
            throw new VolumeFileException(
                    file, element.line, "attribute " + attribute + " of <" + element.name + ">: " + e.getMessage(), e);
        }
    }

    private VolumeFileException problem(Element element, String problem) {
        return new VolumeFileException(file, element.line, problem, null);
    }

    private void parse(String text) throws VolumeFileException {
        var factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        var open = new ArrayDeque<String>();
        try {
            XMLStreamReader reader = factory.createXMLStreamReader(new StringReader(text));
            while (reader.hasNext()) {
                int event = reader.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    open.push(begin(reader, open.peek(), open.size()));
                } else if (event == XMLStreamConstants.END_ELEMENT) {
                    open.pop();
                } else {
                    checkHarmless(reader);
                }
            }
        } catch (XMLStreamException e) {
            int line = e.getLocation() == null ? 0 : e.getLocation().getLineNumber();
            throw new VolumeFileException(file, line, "not well-formed XML: " + firstLine(e) + REMEDY, e);
        } catch (MissingResourceException e) {
            // The JDK's parser lacks the text of some of its own messages, among them those about a DOCTYPE.
            throw new VolumeFileException(file, 0, "not well-formed XML: " + e.getKey() + REMEDY, e);
        }
    }

    /**
     * Notes an element that begins.
     *
     * @param parent path of the one that it is in; null if it is the root
     * @return its path
     */
    private String begin(XMLStreamReader reader, @Nullable String parent, int depth) throws VolumeFileException {
        String name = reader.getLocalName();
        var element = new Element(reader.getLocation().getLineNumber(), name, new LinkedHashMap<>());
        if (parent == null && !name.equals(VolumeFile.ROOT)) {
            throw problem(element, "the root element is <" + name + ">, not <" + VolumeFile.ROOT + ">");
        }
        if (depth == DEPTH_MAX) {
            throw problem(element, "elements nested deeper than " + DEPTH_MAX);
        }
        for (int i = 0; i < reader.getAttributeCount(); i++) {
            element.attributes.put(reader.getAttributeLocalName(i), reader.getAttributeValue(i));
        }
        String path = parent == null ? ROOT : parent.isEmpty() ? name : parent + "/" + name;
        if (elements.putIfAbsent(path, element) != null) {
            throw problem(element, "a second element <" + name + ">");
        }
        return path;
    }

    /** Refuses all events except comments, white space and the end of the document: their meaning is not known. */
    private void checkHarmless(XMLStreamReader reader) throws VolumeFileException {
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
