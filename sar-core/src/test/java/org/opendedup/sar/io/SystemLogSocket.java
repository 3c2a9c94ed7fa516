package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jnr.ffi.LibraryLoader;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;

/** Stands for syslogd: the socket that receives messages. */
public final class SystemLogSocket implements AutoCloseable {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int MSG_DONTWAIT = 0x40;

    private final Functions libc = LibraryLoader.create(Functions.class).load("c");
    private final Path path;
    private final int descriptor;

    /** Numbers from the manual pages. */
    public interface Functions {
        int socket(int domain, int type, int protocol);

        int bind(int descriptor, @In byte[] address, int addressBytes);

        @ssize_t
        long recv(int descriptor, @Out byte[] bytes, @size_t long count, int flags);

        int close(int descriptor);
    }

    public SystemLogSocket(Path path) throws IOException {
        this.path = path;
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        byte[] address = ByteBuffer.allocate(2 + name.length + 1)
                .order(ByteOrder.nativeOrder())
                .putShort((short) AF_UNIX)
                .put(name)
                .array();
        descriptor = libc.socket(AF_UNIX, SOCK_DGRAM, 0);
        if (descriptor < 0 || libc.bind(descriptor, address, address.length) != 0) {
            throw new IOException("no socket at " + path);
        }
    }

    /** The messages since the last call. */
    public List<String> messages() {
        List<String> messages = new ArrayList<>();
        byte[] bytes = new byte[1 << 16];
        for (long count = receive(bytes); count >= 0; count = receive(bytes)) {
            messages.add(new String(bytes, 0, (int) count, StandardCharsets.UTF_8));
        }
        return messages;
    }

    private long receive(byte[] bytes) {
        return libc.recv(descriptor, bytes, bytes.length, MSG_DONTWAIT);
    }

    @Override
    public void close() throws IOException {
        libc.close(descriptor);
        Files.deleteIfExists(path);
    }
}
