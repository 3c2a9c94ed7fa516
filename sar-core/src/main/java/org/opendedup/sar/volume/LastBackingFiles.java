package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.BackingFiles;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawNumbers;

/**
 * Finds the backing file of an inode by its name. If a crash left earlier ones of the same inode, it is the one that
 * was changed last: an earlier one was not written any more when the next one was made.
 */
final class LastBackingFiles implements BackingFiles, Closeable {
    /** Opens the folder of the backing files. */
    @FunctionalInterface
    interface Opener {
        RawFolder open() throws IOException;
    }

    private final Opener opener;
    private @Nullable RawFolder folder;

    /** @param opener called when the folder is needed first */
    LastBackingFiles(Opener opener) {
        this.opener = opener;
    }

    @Override
    public long last(long inode) throws IOException {
        RawFolder opened = folder;
        if (opened == null) {
            opened = opener.open();
            folder = opened;
        }
        long first = RawNumbers.first(inode);
        long last = NONE;
        long lastChangedNs = Long.MIN_VALUE;
        long number = first;
        do {
            RandomFile.Status status = opened.status(number);
            if (status != null && status.changedNs() > lastChangedNs) {
                last = number;
                lastChangedNs = status.changedNs();
            }
            number = RawNumbers.next(number);
        } while (number != first);
        return last;
    }

    @Override
    public void close() {
        if (folder != null) {
            folder.close();
        }
    }
}
