package org.opendedup.sar.metadata.remote;

/**
 * Who may extend the chain of a volume's log segments.
 *
 * @param lease number of the lease, one higher than that of the owner before
 * @param token random: two who ask for the same lease at the same time have different tokens
 */
public record Owner(long lease, long token) {
    /** Before the first owner. */
    static final Owner NONE = new Owner(0, 0);

    /** Returns an owner of the lease that follows. */
    Owner successor(long itsToken) {
        return new Owner(lease + 1, itsToken);
    }

    @Override
    public String toString() {
        return "lease " + lease;
    }
}
