package org.opendedup.sar.sim.estimate;

/** Receives the progress of reading data. */
interface Progress {
    /** Starts the reading. */
    void start(long totalBytes);

    /** Notes that {@code bytes} more bytes were read. */
    void onBytesRead(long bytes);

    /** Clears the display ahead of a line of text that is written to the same place. */
    default void clear() {}

    /** Ends the reading. */
    void end();

    /** Ignores the progress. */
    Progress NONE = new Progress() {
        @Override
        public void start(long totalBytes) {}

        @Override
        public void onBytesRead(long bytes) {}

        @Override
        public void end() {}
    };
}
