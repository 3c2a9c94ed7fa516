package org.opendedup.sar.sim.estimate;

/** Is told how far the reading of data has come. */
interface Progress {
    /** Reading begins. */
    void start(long totalBytes);

    /** So many bytes more were read. */
    void read(long bytes);

    /** A line of text is about to be written to where it is shown. */
    default void clear() {}

    /** Nothing more comes. */
    void end();

    /** For nobody. */
    Progress NONE = new Progress() {
        @Override
        public void start(long totalBytes) {}

        @Override
        public void read(long bytes) {}

        @Override
        public void end() {}
    };
}
