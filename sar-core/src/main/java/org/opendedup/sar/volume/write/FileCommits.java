package org.opendedup.sar.volume.write;

import java.io.IOException;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;

/** Makes the bytes of files part of the next commit, and reports what of them was given up. */
public record FileCommits(Committer committer, FileWriter writer) {
    /** Stores the dirty bytes of a file in chunks, before a commit. ENOSPC if there is no space. */
    public void store(Node node) throws IOException {
        whenThereIsSpace(() -> writer.storeAll(node));
    }

    /** Makes the dirty bytes of a file part of the next commit. ENOSPC if there is no space. */
    public void secure(Node node) throws IOException {
        whenThereIsSpace(() -> writer.secure(node));
    }

    /**
     * Makes the dirty bytes of all files part of the next commit. ENOSPC if there is no space. An I/O error as
     * {@link #storeAll} says.
     */
    public void secureAll() throws IOException {
        reporting(writer::secureEverything);
    }

    /**
     * Stores the dirty bytes of all files before a commit. ENOSPC if there is no space. An I/O error, once, if accepted
     * bytes of any file were given up since the last call: also by an attempt in the background.
     */
    public void storeAll() throws IOException {
        reporting(writer::storeEverything);
    }

    private void reporting(Closing.Step storing) throws IOException {
        try {
            whenThereIsSpace(storing);
        } catch (IOException e) {
            writer.lost().reported(e);
            throw e;
        }
        writer.lost().report();
    }

    /**
     * Runs {@code storing}. Runs it once more if a container was already waiting for space, of which the volume was not
     * notified yet.
     */
    private void whenThereIsSpace(Closing.Step storing) throws IOException {
        committer.retryIfShort();
        try {
            storing.run();
        } catch (NoSpaceException e) {
            committer.retryIfShort();
            storing.run();
        }
    }
}
