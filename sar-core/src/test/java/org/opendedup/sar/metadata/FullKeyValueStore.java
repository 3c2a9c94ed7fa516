package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;

/**
 * A key-value store that runs full: while it is, commits fail for want of space. As with a real one, nobody knows
 * whether such a batch is there after a crash.
 */
public final class FullKeyValueStore implements KeyValueStore {
    private final CrashKeyValueStore store;
    private int commitsToRefuse;
    private volatile boolean refusingRecipes;

    public FullKeyValueStore(CrashKeyValueStore store) {
        this.store = store;
    }

    /** From now on so many commits find no space. */
    public synchronized void refuseNextCommits(int count) {
        commitsToRefuse = count;
    }

    /** Whether recipes can't be read, as of a database that can't be opened again for want of space. */
    public void refuseRecipes(boolean refused) {
        refusingRecipes = refused;
    }

    private synchronized boolean takeRefusal() {
        if (commitsToRefuse == 0) {
            return false;
        }
        commitsToRefuse--;
        return true;
    }

    @Override
    public byte[] get(Family family, byte[] key) throws IOException {
        return store.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        if (refusingRecipes && family == Family.RECIPE) {
            throw new NoSpaceException("No space left on device");
        }
        return store.scan(family, from, to);
    }

    @Override
    public Batch batch() {
        Batch batch = store.batch();
        return new Batch() {
            @Override
            public void put(Family family, byte[] key, byte[] value) throws IOException {
                batch.put(family, key, value);
            }

            @Override
            public void delete(Family family, byte[] key) throws IOException {
                batch.delete(family, key);
            }

            @Override
            public void commit() throws IOException {
                if (!takeRefusal()) {
                    batch.commit();
                    return;
                }
                store.failNextCommits(1);
                try {
                    batch.commit();
                } catch (IOException e) {
                    throw new NoSpaceException("No space left on device");
                }
                throw new AssertionError("a commit that should fail succeeded");
            }

            @Override
            public void close() {
                batch.close();
            }
        };
    }

    @Override
    public void close() {
        store.close();
    }
}
