package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

    /** Removes the attribute of an option, and returns the values with it. */
    <T> OptionValues read(VolumeOption<T> option, OptionValues values) throws VolumeFileException {
        String attribute = option.attribute();
        if (!attributes.containsKey(attribute) && (option.mayBeAbsent() || option.isAdded())) {
            return values;
        }
        String text = text(attribute);
        try {
            return values.withText(option, text);
        } catch (IllegalArgumentException e) {
            throw new VolumeFileException(
                    file, line, "attribute " + attribute + " of <" + name + ">: " + e.getMessage(), e);
        }
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
}
