package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.restore.RestoreEngine;

/** What a volume does with recipes beside reading and writing files. */
final class Recipes {
    private final MetadataStore metadata;
    private final RestoreEngine restore;

    Recipes(MetadataStore metadata, RestoreEngine restore) {
        this.metadata = metadata;
        this.restore = restore;
    }

    /** Reads stored bytes of a file into an array; see {@link org.opendedup.sar.ingest.StoredContents}. */
    void read(long inode, long offset, byte[] target, int at, int length) throws IOException {
        restore.read(inode, offset, length, ByteBuffer.wrap(target, at, length));
    }

    /** Drops what the page that holds the file's new end says of the bytes behind it. Called with the change lock held. */
    void truncatePage(long inode, long size) throws IOException {
        int pageBytes = metadata.header().pageBytes();
        int kept = (int) (size % pageBytes);
        if (kept == 0) {
            return;
        }
        long number = size / pageBytes;
        RecipePage page = metadata.recipes().page(inode, number);
        if (page.bytes() > kept) {
            RecipePage.Builder cut = new RecipePage.Builder();
            metadata.recipes()
                    .replace(inode, number, cut.addRange(page, 0, kept).build());
        }
    }
}
