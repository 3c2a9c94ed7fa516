package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;

/**
 * A key-value store that can become full: commits then fail for lack of space. As with a real one, it is unknown
 * whether such a batch exists after a crash.
 */
public final class FullKeyValueStore extends HookedKeyValueStore<CrashKeyValueStore> {
    private int commitsToRefuse;
    private volatile boolean refusingRecipes;

    public FullKeyValueStore(CrashKeyValueStore store) {
        super(store);
    }

    /** Makes this number of commits from now on find no space. */
    public synchronized void refuseNextCommits(int count) {
        commitsToRefuse = count;
    }

    /** Whether recipes cannot be read, as in a database that cannot be reopened for lack of space. */
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
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        if (refusingRecipes && family == Family.RECIPE) {
            throw new NoSpaceException("No space left on device");
        }
        return super.scan(family, from, to);
    }

    @Override
    protected void commit(Batch batch) throws IOException {
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
}
