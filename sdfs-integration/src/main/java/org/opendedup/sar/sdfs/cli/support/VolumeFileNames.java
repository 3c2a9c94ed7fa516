package org.opendedup.sar.sdfs.cli.support;

import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.XMLStreamWriter;

/**
 * Replaces names in a volume file: in the values of its attributes, because a name is spelled otherwise in XML.
 * Comments are left out: people write there what they want.
 */
final class VolumeFileNames {
    private VolumeFileNames() {}

    /** @throws XMLStreamException if it is no XML, or has a DOCTYPE */
    static String replaced(String text, Placeholders names) throws XMLStreamException {
        if (names.keepsNames()) {
            return text;
        }
        var factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        var replaced = new StringWriter();
        XMLStreamReader reader = factory.createXMLStreamReader(new StringReader(text));
        XMLStreamWriter writer = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(replaced);
        while (reader.hasNext()) {
            reader.next();
            if (reader.isStartElement()) {
                writer.writeStartElement(reader.getLocalName());
                for (int i = 0; i < reader.getAttributeCount(); i++) {
                    writer.writeAttribute(
                            reader.getAttributeLocalName(i), replacedIn(reader.getAttributeValue(i), names));
                }
            } else if (reader.isEndElement()) {
                writer.writeEndElement();
            } else if (reader.isWhiteSpace()) {
                writer.writeCharacters(reader.getText());
            }
        }
        writer.close();
        return replaced + "\n";
    }

    private static String replacedIn(String value, Placeholders names) {
        return value.startsWith("/") || value.contains("://") ? names.path(value) : names.knownIn(value);
    }
}
