package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;

/**
 * The system log of the machine: syslog's or journald's socket ({@code /dev/log}), written to as syslog(3) does, with
 * two differences: the caller is informed of failures, and never has to wait. Thread-safe.
 */
public final class SystemLog {
    /** The usual path of the socket. */
    public static final Path SOCKET = Path.of("/dev/log");

    /** The more severe of the two levels of syslog(3) that are used here. */
    public static final int ERROR = 3;

    /** The less severe of the two levels. */
    public static final int WARNING = 4;

    private static final int FACILITY_DAEMON = 3 << 3;

    /** Maximum message size in bytes, which every system log accepts. */
    private static final int MAX_BYTES = 2000;

    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;

    /** Maximum path length in {@code sockaddr_un}, in bytes: 2 bytes of family, the path, a zero. */
    private static final int MAX_PATH_BYTES = 107;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("MMM ppd HH:mm:ss", Locale.ROOT);

    private final byte[] address;
    private final Path socket;
    private final String tag;

    /** @param tag the program's name, as the system log shows it */
    public SystemLog(Path socket, String tag) {
        byte[] path = socket.toString().getBytes(StandardCharsets.UTF_8);
        if (path.length > MAX_PATH_BYTES) {
            throw new IllegalArgumentException(socket + " is too long a path for a socket");
        }
        ByteBuffer bytes = ByteBuffer.allocate(2 + path.length + 1).order(ByteOrder.nativeOrder());
        this.address = bytes.putShort((short) AF_UNIX).put(path).array();
        this.socket = socket;
        this.tag = tag;
    }

    /**
     * Sends a line; cuts the message off after {@value #MAX_BYTES} bytes.
     *
     * @param severity {@link #ERROR} or {@link #WARNING}
     * @throws IOException if there is no receiver, or it does not accept the message at once
     */
    public void send(int severity, String line) throws IOException {
        Libc.Functions libc = Libc.loaded();
        if (libc == null) {
            throw new IOException("the C library can't be called");
        }
        String text = "<" + (FACILITY_DAEMON | severity) + ">" + TIME.format(LocalDateTime.now()) + " " + tag + "["
                + ProcessHandle.current().pid() + "]: " + line;
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] sent = Arrays.copyOf(bytes, Math.min(bytes.length, MAX_BYTES));
        int descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            throw failure("no socket for " + socket);
        }
        try {
            long count =
                    libc.sendto(descriptor, sent, sent.length, MSG_DONTWAIT | MSG_NOSIGNAL, address, address.length);
            if (count != sent.length) {
                throw failure("sending to " + socket);
            }
        } finally {
            libc.close(descriptor);
        }
    }

    private static IOException failure(String what) {
        int errno = Libc.errno();
        return new IOException(what + ": " + SystemError.words(errno) + " (error " + errno + ")");
    }
}
