package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;

/** A store that closes something else after itself. */
final class ClosingKeyValueStore implements KeyValueStore {
    private final KeyValueStore store;
    private final Closing.Step then;

    ClosingKeyValueStore(KeyValueStore store, Closing.Step then) {
        this.store = store;
        this.then = then;
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        return store.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        return store.scan(family, from, to);
    }

    @Override
    public Batch batch() throws IOException {
        return store.batch();
    }

    @Override
    public long logBytes() throws IOException {
        return store.logBytes();
    }

    @Override
    public long changes() throws IOException {
        return store.changes();
    }

    @Override
    public List<String> mendCopy(Reading reading) throws IOException {
        return store.mendCopy(reading);
    }

    @Override
    public boolean checkpoint(Path target) throws IOException {
        return store.checkpoint(target);
    }

    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        closing.run(store::close);
        closing.run(then);
        closing.finish();
    }
}
