package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;

/** The operations of the fast tier. Paths begin at the volume's root. */
public interface TierWork {
    /** A work on a file, or on the files below a folder. */
    enum Kind {
        MIGRATE("Stores the raw files there in chunks, and takes them off the fast tier"),
        PIN("Keeps the raw files there, and new ones, on the fast tier"),
        UNPIN("Ends that files there are kept on the fast tier"),
        RELOAD("Brings the files there to the SSD");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** Returns what it does. */
        public String text() {
            return text;
        }
    }

    /**
     * Starts a work, in the background.
     *
     * @throws IOException if it cannot begin; the message says why
     */
    void start(Kind kind, String path) throws IOException;

    /**
     * Uses the fast tier again.
     *
     * @param makeNew whether an empty folder may take the place of one that is lost for good
     * @return whether it was not in use before
     */
    boolean attach(boolean makeNew) throws IOException;
}
