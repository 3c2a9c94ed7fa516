package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.promotion.FileReload.Reloaded;
import org.opendedup.sar.sdfs.restore.TreeEntry;
import org.opendedup.sar.volume.raw.FastTier.Place;

/** Brings files that lie in chunks to the SSD. */
final class TierReload extends TreeJob {
    private static final String RELOADED = "reloadedFiles";
    private static final String BYTES = "chunkBytes";
    private static final String COPIED = "copiedBytes";
    private static final String ON_SSD = "onSsdBytes";
    private static final String INCOMPLETE = "incompleteFiles";
    private static final String REASONS = "incomplete";
    private static final String RAW = "rawFiles";

    private final boolean waits;

    /** @param waits whether to wait until the copies are on the SSD, not only on their way */
    TierReload(ServedPaths paths, String path, boolean waits) {
        super(paths, path, "reloaded files", RELOADED, List.of(RELOADED, BYTES, COPIED, ON_SSD, INCOMPLETE, RAW));
        this.waits = waits;
    }

    @Override
    void visit(TreeEntry entry, ShownPath at, Progress progress) throws IOException {
        if (entry.isDirectory()) {
            return;
        }
        if (volume().fastTier().explain(entry.inode()).place() != Place.CHUNKS) {
            add(RAW, 1);
            return;
        }
        Reloaded done = volume().fastTier().reload(entry.inode(), waits, bytes -> checkStopped(progress));
        add(RELOADED, 1);
        add(BYTES, done.bytes());
        add(COPIED, done.copiedBytes());
        add(ON_SSD, done.onSsdBytes());
        if (done.onSsdBytes() < done.bytes()) {
            add(INCOMPLETE, 1);
            done.refused()
                    .forEach((why, bytes) -> name(REASONS, at + ": " + ByteSize.rounded(bytes) + " " + words(why)));
        }
    }

    /** Says why bytes of a file are not on the SSD; follows their number. */
    private static String words(Refusal why) {
        return switch (why) {
            case RANK -> "are worth less than what is on the full SSD";
            case NO_ROOM -> "found no room there, or were displaced";
            case TOO_LARGE -> "are in chunks that are too long for it";
            case QUEUE -> "waited for it in vain: it writes too slowly";
            case UNAVAILABLE -> "were not taken: no SSD is attached, or it takes no writes";
            case WRITE_FAILED -> "could not be written to it";
            case DAMAGED, UNREADABLE -> "cannot be read from the disk";
            case UNREFERENCED -> "are not part of the file any more";
            case COUNT, RUN, PRESENT -> "were refused: " + why;
        };
    }
}
