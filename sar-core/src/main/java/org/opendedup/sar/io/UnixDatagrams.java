package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Sends datagrams to the Unix socket of another process; see unix(7). The JDK cannot. Thread-safe. */
public final class UnixDatagrams {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;

    private final String socket;
    private final byte[] address;

    /** @param socket a path, or an abstract name that begins with {@code @} */
    public UnixDatagrams(String socket) {
        this.socket = socket;
        byte[] name = socket.getBytes(StandardCharsets.UTF_8);
        if (socket.startsWith("@")) {
            name[0] = 0;
        }
        address = ByteBuffer.allocate(Short.BYTES + name.length)
                .order(ByteOrder.nativeOrder())
                .putShort((short) AF_UNIX)
                .put(name)
                .array();
    }

    /**
     * Sends one datagram.
     *
     * @param waits whether to wait while the receiver's queue is full, however long
     * @throws IOException if there is no receiver, its queue is full, or the name is too long
     */
    public void send(byte[] bytes, boolean waits) throws IOException {
        Libc.Functions libc = Libc.loaded();
        if (libc == null) {
            throw new IOException("the C library can't be called");
        }
        int descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | Libc.O_CLOEXEC, 0);
        if (descriptor < 0) {
            throw failure("no socket for ");
        }
        try {
            int flags = waits ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT;
            long count = libc.sendto(descriptor, bytes, bytes.length, flags, address, address.length);
            if (count != bytes.length) {
                throw failure("sending to ");
            }
        } finally {
            libc.close(descriptor);
        }
    }

    private IOException failure(String what) {
        int errno = Libc.errno();
        return new IOException(what + socket + ": " + SystemError.words(errno) + " (error " + errno + ")");
    }
}
