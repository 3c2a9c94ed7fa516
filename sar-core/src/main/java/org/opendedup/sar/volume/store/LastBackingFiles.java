package org.opendedup.sar.volume.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.repair.BackingFiles;
import org.opendedup.sar.raw.FileRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Finds the backing file of an inode by its name. If a crash left earlier ones of the same inode, it is the one that
 * was changed last: an earlier one was not written any more when the next one was made.
 */
public final class LastBackingFiles implements BackingFiles, Closeable {
    /** Opens the folder of the backing files. */
    @FunctionalInterface
    public interface Opener {
        RawFolder open() throws IOException;
    }

    private final Opener opener;
    private @Nullable RawFolder folder;

    /** @param opener called when the folder is needed first */
    public LastBackingFiles(Opener opener) {
        this.opener = opener;
    }

    /** Returns those of a volume; they are opened when they are needed first. */
    public static LastBackingFiles at(VolumeConfig.Locations locations, UUID volume) {
        return new LastBackingFiles(() -> {
            Path location = locations.ssd();
            if (location == null) {
                throw new IOException("the volume has no SSD location");
            }
            return FileRawFolder.open(location, volume);
        });
    }

    @Override
    public long last(long inode) throws IOException {
        RawFolder opened = opened();
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
    public void forEachInode(Visitor visitor) throws IOException {
        IOException[] failure = new IOException[1];
        opened().forEach(number -> {
            try {
                if (failure[0] == null && !RawNumbers.isPart(number)) {
                    visitor.visit(RawNumbers.inode(number));
                }
            } catch (IOException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private RawFolder opened() throws IOException {
        RawFolder opened = folder;
        if (opened == null) {
            opened = opener.open();
            folder = opened;
        }
        return opened;
    }

    @Override
    public void close() {
        if (folder != null) {
            folder.close();
        }
    }
}
