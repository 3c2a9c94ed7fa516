package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;

/** Thrown for a message of the kernel that the protocol does not allow. The reply is EIO. */
final class MalformedRequestException extends IOException {
    private static final long serialVersionUID = 1;

    MalformedRequestException(String message) {
        super("malformed request: " + message);
    }
}
