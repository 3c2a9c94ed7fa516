package org.opendedup.sar.objects;

import java.util.List;

/**
 * A page of a list.
 *
 * @param objects the objects, in the order of their names
 * @param isLast whether no object follows
 */
public record ObjectPage(List<Entry> objects, boolean isLast) {
    /**
     * An object.
     *
     * @param length its length in bytes; of an object that is replaced, what it takes in the store
     */
    public record Entry(String name, long length) {}

    public ObjectPage {
        objects = List.copyOf(objects);
    }

    public List<String> names() {
        return objects.stream().map(Entry::name).toList();
    }
}
