package org.opendedup.sar.scrub;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.Closing;

/**
 * A part of a volume that can be made anew, the index or the SSD, is not in use or cannot be read. That is no failure
 * of a scrub or of a check, which then omits the part and says why.
 */
final class PartUnusable extends Exception {
    private static final long serialVersionUID = 1;

    private final String why;

    /** @param why the reason, for a person */
    PartUnusable(String why) {
        super(why);
        this.why = why;
    }

    private PartUnusable(Exception cause) {
        super(cause);
        why = String.valueOf(cause.getMessage());
    }

    /** Returns the reason, for a person. */
    String why() {
        return why;
    }

    /** @throws PartUnusable if the use fails */
    static <T> T get(Answer<T> query) throws PartUnusable {
        try {
            return query.get();
        } catch (IOException | UncheckedIOException e) {
            throw new PartUnusable(e);
        }
    }

    /** @throws PartUnusable if the use fails */
    static void use(Closing.Step use) throws PartUnusable {
        try {
            use.run();
        } catch (IOException | UncheckedIOException e) {
            throw new PartUnusable(e);
        }
    }
}
