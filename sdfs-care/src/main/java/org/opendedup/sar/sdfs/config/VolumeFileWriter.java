package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** The writer of {@link VolumeFile}: converts a definition to text, one line per element. */
final class VolumeFileWriter {
    /** Name of the root element. */
    static final String ROOT = "subsystem-config";

    /** Version of the format, in the root element. */
    static final int VERSION = 2;

    /** The element that a volume without raw files lacks. */
    static final String FAST_TIER = "fast-tier";

    private VolumeFileWriter() {}

    static String text(VolumeDefinition definition) throws IOException {
        var text = new StringWriter();
        try {
            XMLStreamWriter writer = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
            writer.writeStartDocument("UTF-8", "1.0");
            indent(writer, 0);
            writer.writeStartElement(ROOT);
            writer.writeAttribute("version", Integer.toString(VERSION));
            writeBody(writer, definition.values());
            indent(writer, 0);
            writer.writeEndElement();
            writer.writeEndDocument();
            writer.writeCharacters("\n");
            writer.close();
        } catch (XMLStreamException e) {
            throw new IOException("the volume file cannot be written as XML", e);
        }
        return text.toString();
    }

    private static void writeBody(XMLStreamWriter writer, OptionValues values) throws XMLStreamException {
        indent(writer, 1);
        writer.writeEmptyElement("sdfscli");
        writer.writeAttribute("enable", "false");
        Map<String, List<VolumeOption<?>>> elements = VolumeOptions.ALL.stream()
                .filter(VolumeOption::isStored)
                .collect(Collectors.groupingBy(VolumeOption::element, LinkedHashMap::new, Collectors.toList()));
        for (String path : elements.keySet()) {
            if (path.indexOf('/') >= 0 || path.equals(FAST_TIER) && isDefault(elements.get(path), values)) {
                continue;
            }
            List<Map.Entry<String, List<VolumeOption<?>>>> children = elements.entrySet().stream()
                    .filter(other -> other.getKey().startsWith(path + "/"))
                    .toList();
            start(writer, path, children.isEmpty(), elements.get(path), values);
            for (var child : children) {
                start(writer, child.getKey(), true, child.getValue(), values);
            }
            if (!children.isEmpty()) {
                indent(writer, 1);
                writer.writeEndElement();
            }
        }
    }

    private static boolean isDefault(List<VolumeOption<?>> options, OptionValues values) {
        return options.stream().allMatch(option -> Objects.equals(values.text(option), OptionValues.NONE.text(option)));
    }

    private static void start(
            XMLStreamWriter writer, String path, boolean isEmpty, List<VolumeOption<?>> options, OptionValues values)
            throws XMLStreamException {
        int slash = path.lastIndexOf('/');
        indent(writer, slash < 0 ? 1 : 2);
        if (isEmpty) {
            writer.writeEmptyElement(path.substring(slash + 1));
        } else {
            writer.writeStartElement(path.substring(slash + 1));
        }
        for (VolumeOption<?> option : options) {
            String text = values.text(option);
            if (text != null) {
                writer.writeAttribute(option.attribute(), text);
            }
        }
    }

    private static void indent(XMLStreamWriter writer, int depth) throws XMLStreamException {
        writer.writeCharacters("\n" + "  ".repeat(depth));
    }
}
