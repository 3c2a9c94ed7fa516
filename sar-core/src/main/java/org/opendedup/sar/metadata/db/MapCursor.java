package org.opendedup.sar.metadata.db;

import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** A cursor over a sorted map. */
public final class MapCursor implements KeyValueStore.Cursor {
    private final Iterator<Map.Entry<byte[], byte[]>> entries;
    private Map.@Nullable Entry<byte[], byte[]> entry;

    public MapCursor(NavigableMap<byte[], byte[]> map) {
        entries = map.entrySet().iterator();
    }

    @Override
    public boolean next() {
        entry = entries.hasNext() ? entries.next() : null;
        return entry != null;
    }

    @Override
    public byte[] key() {
        return entry().getKey();
    }

    @Override
    public byte[] value() {
        return entry().getValue();
    }

    @Override
    public void close() {}

    private Map.Entry<byte[], byte[]> entry() {
        if (entry == null) {
            throw new NoSuchElementException("the cursor is not at an entry");
        }
        return entry;
    }
}
