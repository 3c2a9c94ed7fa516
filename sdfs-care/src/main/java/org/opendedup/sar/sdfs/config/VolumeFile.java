package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.LockFile;

/**
 * Reads and writes the SDFS volume XML. Element and attribute names are those of SDFS where the meaning is the same;
 * {@code sar} and {@code restore} exist only here. Reading is strict: a DOCTYPE, an unknown or missing element or
 * attribute, or a wrong type is refused with file, line and name. The reason: an administrator would rely on a setting
 * that is silently ignored. The file never holds a key or password.
 */
public final class VolumeFile {
    /** Name of the root element. */
    static final String ROOT = "subsystem-config";

    /** Version of the format, in the root element. */
    static final int VERSION = 2;

    /**
     * Largest accepted file, in bytes. A volume file has about 2 KB; a file of more than one megabyte is something
     * else.
     */
    private static final long FILE_BYTES_MAX = 1 << 20;

    private VolumeFile() {}

    /**
     * Reads a volume file.
     *
     * @throws VolumeFileException if the file is not a valid volume file; the message names file and line
     * @throws IOException if it cannot be read
     */
    public static VolumeDefinition read(Path file) throws IOException {
        if (Files.size(file) > FILE_BYTES_MAX) {
            throw new VolumeFileException(file, 0, "larger than " + ByteSize.exact(FILE_BYTES_MAX), null);
        }
        String text;
        try {
            text = Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new VolumeFileException(file, 0, "not UTF-8", e);
        }
        return new VolumeFileReader(file).read(text);
    }

    /**
     * Writes the file of a new volume: after a crash, it is there complete, or not at all.
     *
     * @throws FileAlreadyExistsException if there is one, or another process makes one at this moment
     */
    public static void create(Path file, VolumeDefinition definition) throws IOException {
        // What is renamed takes the place of a file that is there; hard links, which do not, are not everywhere.
        Path lockFile = file.resolveSibling(file.getFileName() + ".lock");
        try (LockFile lock =
                LockFile.tryAcquire(lockFile).orElseThrow(() -> new FileAlreadyExistsException(file.toString()))) {
            boolean isNew = !Files.exists(file);
            if (isNew) {
                write(file, definition);
            }
            // Not before the volume file is there: who has opened this one, and gets its lock next, finds that.
            Files.deleteIfExists(lockFile);
            if (!isNew) {
                throw new FileAlreadyExistsException(file.toString());
            }
        }
    }

    /**
     * Writes a volume file atomically: after a crash, either the old or the new file is there, complete.
     *
     * @throws IOException if it cannot be written; the old file then stays
     */
    public static void write(Path file, VolumeDefinition definition) throws IOException {
        AtomicFile.write(file, text(definition).getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the text of a volume file, one line per element. */
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
            if (path.indexOf('/') >= 0
                    || VolumeOptions.OPTIONAL_ELEMENTS.contains(path) && isDefault(elements.get(path), values)) {
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
