package org.opendedup.sar.volume.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;

/**
 * A mark at the data location: the metadata were replaced by older ones, and the packs have containers that these do
 * not know. A restore makes it, and a mount that finds older metadata which somebody has put back. While it is there,
 * garbage is not collected: both histories use the containers that they share, and the place of one may have what only
 * the other refers to. So an administrator can still go back to the other history. It is an empty file.
 */
public final class OtherHistory {
    /** Name of the file in the data location. */
    public static final String NAME = "other-history";

    /**
     * Name of the file that lasts from {@link #giveUp} to the next mount, which would take the metadata for put back
     * otherwise.
     */
    private static final String GIVEN_UP = "other-history-given-up";

    private OtherHistory() {}

    /** Makes the mark, durably. Does nothing if it is there. */
    public static void mark(Directory data) throws IOException {
        make(data, NAME);
    }

    private static void make(Directory data, String name) throws IOException {
        if (!data.exists(name)) {
            try (Output file = data.create(name)) {
                file.force();
            }
            data.sync();
        }
    }

    /** Makes the mark at a mount with older metadata, unless the other history was given up since they are there. */
    public static void found(Directory data) throws IOException {
        if (!data.exists(GIVEN_UP)) {
            mark(data);
        }
    }

    /** Notes that the data location is of the history of the metadata from now on. */
    public static void ended(Directory data) throws IOException {
        if (data.exists(GIVEN_UP)) {
            data.delete(GIVEN_UP);
            data.sync();
        }
    }

    public static boolean isMarked(Directory data) throws IOException {
        return data.exists(NAME);
    }

    /**
     * Checks that there is no mark.
     *
     * @param data the data location
     * @param howToGiveUp what to do for that, for the message: "call: …"
     * @throws RestoredMetadataException if there is one; the message says how to remove it
     */
    public static void requireGivenUp(Path data, String howToGiveUp) throws RestoredMetadataException {
        if (Files.exists(data.resolve(NAME))) {
            throw new RestoredMetadataException(
                    "the metadata were restored, and a collection of garbage would take away what only the"
                            + " replaced metadata know; if you will not go back to these, " + howToGiveUp);
        }
    }

    /**
     * Removes the mark, durably: the other history is given up. From now on garbage is collected again. From the next
     * mount on, collections also give back what the metadata do not know.
     *
     * @return whether it was there
     */
    public static boolean giveUp(Directory data) throws IOException {
        if (!data.exists(NAME)) {
            return false;
        }
        make(data, GIVEN_UP);
        data.delete(NAME);
        data.sync();
        return true;
    }
}
