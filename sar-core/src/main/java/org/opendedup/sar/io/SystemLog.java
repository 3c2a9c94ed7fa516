package org.opendedup.sar.io;

import java.io.IOException;
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

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("MMM ppd HH:mm:ss", Locale.ROOT);

    private final UnixDatagrams socket;
    private final String tag;

    /** @param tag the program's name, as the system log shows it */
    public SystemLog(Path socket, String tag) {
        this.socket = new UnixDatagrams(socket.toString());
        this.tag = tag;
    }

    /**
     * Sends a line; cuts the message off after {@value #MAX_BYTES} bytes.
     *
     * @param severity {@link #ERROR} or {@link #WARNING}
     * @throws IOException if there is no receiver, or it does not accept the message at once
     */
    public void send(int severity, String line) throws IOException {
        String text = "<" + (FACILITY_DAEMON | severity) + ">" + TIME.format(LocalDateTime.now()) + " " + tag + "["
                + ProcessHandle.current().pid() + "]: " + line;
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        socket.send(Arrays.copyOf(bytes, Math.min(bytes.length, MAX_BYTES)), false);
    }
}
