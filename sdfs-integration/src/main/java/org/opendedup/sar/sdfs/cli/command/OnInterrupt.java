package org.opendedup.sar.sdfs.cli.command;

/** Does something if a signal, such as that of Ctrl-C, ends the process while this is open. */
public final class OnInterrupt implements AutoCloseable {
    private final Thread hook;

    /** @param name of the thread that does it */
    public OnInterrupt(String name, Runnable work) {
        hook = new Thread(work, name);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Ends it. If the process is already ending, waits until it is done. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            try {
                hook.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
