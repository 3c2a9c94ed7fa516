package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.disk.DiskOption;

/**
 * An element of the volume file while it is read. The reader removes attributes and children one by one, with the
 * expected type. {@link #end} refuses those that are left.
 */
final class XmlElement {
    private final Path file;
    private final int line;
    private final String name;
    private final Map<String, String> attributes = new LinkedHashMap<>();
    private final List<XmlElement> children = new ArrayList<>();

    XmlElement(Path file, int line, String name) {
        this.file = file;
        this.line = line;
        this.name = name;
    }

    String name() {
        return name;
    }

    void addAttribute(String attribute, String value) {
        attributes.put(attribute, value);
    }

    void addChild(XmlElement child) {
        children.add(child);
    }

    /** Removes and returns the only child of this name. */
    XmlElement child(String childName) throws VolumeFileException {
        XmlElement found = childIfAny(childName);
        if (found == null) {
            throw problem("<" + name + "> lacks its element <" + childName + ">");
        }
        return found;
    }

    /** Removes and returns the only child of this name; null if there is none. */
    @Nullable
    XmlElement childIfAny(String childName) throws VolumeFileException {
        XmlElement found = null;
        for (Iterator<XmlElement> i = children.iterator(); i.hasNext(); ) {
            XmlElement child = i.next();
            if (!child.name.equals(childName)) {
                continue;
            }
            if (found != null) {
                throw child.problem("a second element <" + childName + ">");
            }
            found = child;
            i.remove();
        }
        return found;
    }

    String text(String attribute) throws VolumeFileException {
        String value = attributes.remove(attribute);
        if (value == null) {
            throw problem("<" + name + "> lacks its attribute " + attribute);
        }
        return value;
    }

    long size(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), "a size such as 256KB or 10GB", ByteSize::parse);
    }

    /** Returns the value of an attribute, or {@code otherwise} if it is missing. */
    String textIfAny(String attribute, String otherwise) throws VolumeFileException {
        return attributes.containsKey(attribute) ? text(attribute) : otherwise;
    }

    OptionalLong sizeIfAny(String attribute) throws VolumeFileException {
        return attributes.containsKey(attribute) ? OptionalLong.of(size(attribute)) : OptionalLong.empty();
    }

    int integer(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), "a whole number", Integer::parseInt);
    }

    int octal(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), "an octal number such as 0755", text -> Integer.parseInt(text, 8));
    }

    double decimal(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), "a number such as 0.5", Double::parseDouble);
    }

    boolean bool(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), "true or false", XmlElement::parseBoolean);
    }

    Path path(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), "a path", Path::of);
    }

    @Nullable
    Path pathIfAny(String attribute) throws VolumeFileException {
        return attributes.containsKey(attribute) ? path(attribute) : null;
    }

    /**
     * Returns the value of an attribute with the values of {@code --restore-disk}; {@code auto} if the attribute is
     * missing.
     */
    DiskOption diskIfAny(String attribute) throws VolumeFileException {
        return attributes.containsKey(attribute)
                ? convert(attribute, text(attribute), "one of " + DiskOption.ALLOWED, DiskOption::parse)
                : DiskOption.AUTO;
    }

    /** Returns the value of an attribute with the values of {@code --chunk-store-recompress}; off if it is missing. */
    RecompressLevel recompressIfAny(String attribute) throws VolumeFileException {
        return attributes.containsKey(attribute)
                ? convert(attribute, text(attribute), "off, or zstd:1 to zstd:19", RecompressLevel::parse)
                : RecompressLevel.OFF;
    }

    /** Returns the value of an attribute with the values of {@code --tddfs-journal}, in seconds; 0 for off. */
    int journal(String attribute) throws VolumeFileException {
        return convert(attribute, text(attribute), JournalTime.ALLOWED, JournalTime::parse);
    }

    /** Returns a constant of an enum, which the file writes in lower case with dashes. */
    /** As {@link #choice}; {@code otherwise} if the attribute is missing. */
    <E extends Enum<E>> E choiceIfAny(String attribute, Class<E> type, E otherwise) throws VolumeFileException {
        return attributes.containsKey(attribute) ? choice(attribute, type) : otherwise;
    }

    <E extends Enum<E>> E choice(String attribute, Class<E> type) throws VolumeFileException {
        var allowed = new ArrayList<String>();
        for (E constant : type.getEnumConstants()) {
            allowed.add(spelling(constant));
        }
        return convert(attribute, text(attribute), "one of " + String.join(", ", allowed), text -> {
            if (!allowed.contains(text)) {
                throw new IllegalArgumentException("unknown");
            }
            return type.getEnumConstants()[allowed.indexOf(text)];
        });
    }

    /** Returns the spelling of a constant in the volume file. */
    static String spelling(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Refuses attributes and children that the reader has not removed. */
    void end() throws VolumeFileException {
        if (!attributes.isEmpty()) {
            throw problem("<" + name + "> has an unknown attribute "
                    + attributes.keySet().iterator().next());
        }
        if (!children.isEmpty()) {
            XmlElement child = children.get(0);
            throw child.problem("an unknown element <" + child.name + "> in <" + name + ">");
        }
    }

    VolumeFileException problem(String problem) {
        return new VolumeFileException(file, line, problem, null);
    }

    private <T> T convert(String attribute, String text, String wanted, Function<String, T> conversion)
            throws VolumeFileException {
        try {
            return conversion.apply(text);
        } catch (IllegalArgumentException e) {
            throw new VolumeFileException(
                    file, line, "attribute " + attribute + " of <" + name + "> is '" + text + "', not " + wanted, e);
        }
    }

    private static boolean parseBoolean(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("neither true nor false");
        };
    }
}
