package org.opendedup.sar.volume.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;

/**
 * A mark at the data location: the metadata were replaced by older ones, and the packs have containers that these do
 * not know. While it is there, garbage is not collected: both histories use the containers that they share, and the
 * place of one may have what only the other refers to. So an administrator can still go back to the other history. It
 * is an empty file.
 */
public final class OtherHistory {
    /** Name of the file in the data location. */
    public static final String NAME = "other-history";

    private OtherHistory() {}

    /** Makes the mark, durably. Does nothing if it is there. */
    public static void mark(Directory data) throws IOException {
        if (!data.exists(NAME)) {
            try (Output file = data.create(NAME)) {
                file.force();
            }
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
        data.delete(NAME);
        data.sync();
        return true;
    }
}
