package org.opendedup.sar.sdfs.cli.daemon;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.Health;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The service manager that started this process, as systemd does: it learns when the volume is mounted, how the volume
 * is, and when it is being closed, by datagrams (sd_notify(3)). Without a service manager nothing is sent. Safe for use
 * by many threads.
 */
public final class ServiceManager {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceManager.class);

    /** The variable that names its socket: a path, or an abstract name that begins with {@code @}. */
    private static final String VARIABLE = "NOTIFY_SOCKET";

    /** Of a process that no service manager started. */
    public static final ServiceManager NONE = new ServiceManager("");

    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;

    private final String socket;

    private ServiceManager(String socket) {
        this.socket = socket;
    }

    /** @param environment the variables of the process */
    public static ServiceManager in(Map<String, String> environment) {
        return new ServiceManager(environment.getOrDefault(VARIABLE, ""));
    }

    /** Tells that this process serves the mount. The program that started it may end then. */
    void ready(Path mountPoint) {
        tell("READY=1\nMAINPID=" + ProcessHandle.current().pid() + "\nSTATUS=" + status(mountPoint, List.of()), 0);
    }

    /**
     * Tells how the volume is. Waits for nothing, as {@link #stopping}: one that does not read must not hold up the
     * commands, nor the end of the volume.
     */
    void health(Path mountPoint, List<Finding> findings) {
        tell("STATUS=" + status(mountPoint, findings), MSG_DONTWAIT);
    }

    /** Tells that the mount has ended and the volume is being closed. */
    void stopping() {
        tell("STOPPING=1\nSTATUS=unmounted; closing the volume", MSG_DONTWAIT);
    }

    /** Returns one line: the worst finding, and how many there are. */
    private static String status(Path mountPoint, List<Finding> findings) {
        String health =
                findings.isEmpty() ? Health.WELL.toString() : findings.get(0).line();
        String more = findings.size() > 1 ? " (and " + (findings.size() - 1) + " more)" : "";
        return Printable.line("mounted on " + mountPoint + ", " + health + more);
    }

    private void tell(String state, int flags) {
        if (socket.isEmpty()) {
            return;
        }
        var libc = new Libc();
        int descriptor = libc.functions().socket(AF_UNIX, SOCK_DGRAM | Libc.O_CLOEXEC, 0);
        if (descriptor < 0) {
            LOG.warn("the service manager is not told", libc.failure("socket"));
            return;
        }
        try {
            byte[] text = state.getBytes(StandardCharsets.UTF_8);
            byte[] address = address();
            if (libc.functions().sendto(descriptor, text, text.length, flags | MSG_NOSIGNAL, address, address.length)
                    < 0) {
                LOG.warn("the service manager is not told", libc.failure("sendto", socket));
            }
        } finally {
            libc.functions().close(descriptor);
        }
    }

    /** Returns the address as unix(7) has it: the family, and the path, or a zero and the abstract name. */
    private byte[] address() {
        byte[] name = socket.getBytes(StandardCharsets.UTF_8);
        if (name[0] == '@') {
            name[0] = 0;
        }
        var address = new ByteArrayOutputStream();
        address.writeBytes(ByteBuffer.allocate(Short.BYTES)
                .order(ByteOrder.nativeOrder())
                .putShort((short) AF_UNIX)
                .array());
        address.writeBytes(name);
        return address.toByteArray();
    }
}
