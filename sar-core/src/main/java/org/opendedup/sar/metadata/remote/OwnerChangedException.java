package org.opendedup.sar.metadata.remote;

import java.io.IOException;

/** Another owner has taken the volume over: this one can change nothing in the store any more. */
public final class OwnerChangedException extends IOException {
    private static final long serialVersionUID = 1;

    OwnerChangedException(Owner former, String store) {
        super("the volume in " + store + " has another owner since this one, with " + former
                + "; what is not in the store cannot get there any more. Unmount it here");
    }
}
