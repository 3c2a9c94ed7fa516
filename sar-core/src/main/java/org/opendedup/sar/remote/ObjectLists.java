package org.opendedup.sar.remote;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;

/** Lists of objects from a name on. */
final class ObjectLists {
    private ObjectLists() {}

    /** Returns the objects whose names begin with {@code prefix} and go on with {@code rest} or more, sorted. */
    static List<ObjectPage.Entry> from(ObjectStore store, String prefix, String rest) throws IOException {
        List<ObjectPage.Entry> all = new ArrayList<>();
        for (ObjectPage.Entry entry : store.listAll(prefix, before(prefix, rest))) {
            if (entry.name().compareTo(prefix + rest) >= 0) {
                all.add(entry);
            }
        }
        return all;
    }

    /** Returns a name before {@code rest} in the same folder. */
    private static String before(String prefix, String rest) {
        int folder = rest.indexOf('/');
        return folder < 0 ? "" : prefix + rest.substring(0, folder);
    }
}
