package org.opendedup.sar.objects.lease;

import java.io.IOException;

/** Another owner has the lease, and uses it. */
public final class LeaseHeldException extends IOException {
    private static final long serialVersionUID = 1;

    LeaseHeldException(String store, LeaseRecord held) {
        super("the volume in " + store + " is in use by " + held.ownerText() + " since " + held.since()
                + " (epoch " + held.epoch() + "). Unmount it there first; if that process is gone for good and this is"
                + " shown all the same: sdfscli " + store + " lease break");
    }
}
