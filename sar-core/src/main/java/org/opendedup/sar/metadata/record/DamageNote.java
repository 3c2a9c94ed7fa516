package org.opendedup.sar.metadata.record;

/**
 * How damage was found.
 *
 * @param frame number of the damaged frame in its container, or -1 if it is not one frame
 * @param foundMs when it was found, in milliseconds since 1970
 * @param reason what was wrong, in one sentence; long ones are cut off when they are stored
 */
public record DamageNote(int frame, How how, long foundMs, String reason) {
    /** Represents damage that is not one frame. */
    public static final int NO_FRAME = -1;

    /** What found the damage. The order is part of the stored format. */
    public enum How {
        /** A check or a repair while the volume was not mounted, or a part of the program that gave no reason. */
        OTHER("a check"),
        READ("a read"),
        SCRUB("a scrub"),
        MOUNT("mounting"),
        COLLECTION("a garbage collection"),
        HEAL("healing");

        private final String text;

        How(String text) {
            this.text = text;
        }

        /** Returns the words for people, with an article where one is needed. */
        @Override
        public String toString() {
            return text;
        }
    }

    /** Returns a note that was made now. */
    public static DamageNote now(int frame, How how, String reason) {
        return new DamageNote(frame, how, System.currentTimeMillis(), reason);
    }
}
