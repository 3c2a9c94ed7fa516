package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.common.WriteFailedException;

/** A key-value store whose disk fails on demand: commits then fail, and reads work. */
public final class FailingKeyValueStore extends HookedKeyValueStore<CrashKeyValueStore> {
    private volatile boolean failing;

    public FailingKeyValueStore(CrashKeyValueStore store) {
        super(store);
    }

    public void fail(boolean fails) {
        failing = fails;
    }

    @Override
    protected void commit(Batch batch) throws IOException {
        synchronized (store) {
            store.failNextCommits(failing ? 1 : 0);
            try {
                batch.commit();
            } catch (IOException e) {
                throw new WriteFailedException(e.getMessage(), e);
            }
        }
    }
}
