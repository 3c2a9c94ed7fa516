package org.opendedup.sar.sdfs.fuse;

/** Threads of a machine that has none left. */
public final class NoThreads {
    private NoThreads() {}

    public static SyncThreads make() {
        return new SyncThreads(1, task -> new Thread(task, "never started") {
            @Override
            public void start() {
                throw new OutOfMemoryError("unable to create native thread");
            }
        });
    }

    /** Runs what must not fail for want of threads. JUnit itself would end with the error. */
    public static void without(Runnable use) {
        try {
            use.run();
        } catch (OutOfMemoryError e) {
            throw new AssertionError(e);
        }
    }
}
