package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;

/** A message of the kernel that the protocol does not allow. It is answered with EIO. */
final class MalformedRequestException extends IOException {
    private static final long serialVersionUID = 1;

    MalformedRequestException(String message) {
        super("malformed request: " + message);
    }
}
