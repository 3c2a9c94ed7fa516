package org.opendedup.sar.objects.lease;

/**
 * A lease of this process, as it is now.
 *
 * @param epoch number of the owner
 * @param state {@code valid}; {@code expired}: it could not be renewed for its time, so nothing is served;
 *     {@code lost}: another has it
 * @param ageMillis time since it was renewed last
 * @param problem why it was not renewed, or is lost; empty: it was
 */
public record LeaseStatus(long epoch, String state, long ageMillis, String problem) {
    /** State in which nobody else can have the lease. */
    public static final String VALID = "valid";

    /** Returns it as one line. */
    public String text() {
        return state + ", epoch " + epoch + ", renewed " + ageMillis / 1000 + " s ago"
                + (problem.isEmpty() ? "" : ": " + problem);
    }
}
