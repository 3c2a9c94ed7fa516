package org.opendedup.sar.objects.lease;

import java.io.IOException;

/** This process does not have the lease any more, or does not know whether it has it. */
public final class LeaseLostException extends IOException {
    private static final long serialVersionUID = 1;

    LeaseLostException(String message) {
        super(message);
    }
}
