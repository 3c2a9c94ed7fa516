package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.UnixDatagrams;
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

    /**
     * The variable in which systemd, from release 248 on, tells a service the number of the process that it started.
     */
    private static final String STARTED = "SYSTEMD_EXEC_PID";

    /** Of a process that no service manager started. */
    public static final ServiceManager NONE = new ServiceManager("");

    private final String socket;

    private ServiceManager(String socket) {
        this.socket = socket;
    }

    /** @param environment the variables of the process */
    public static ServiceManager in(Map<String, String> environment) {
        return new ServiceManager(environment.getOrDefault(VARIABLE, ""));
    }

    /**
     * Takes the socket out of a daemon's variables if the service manager did not start the process that starts the
     * daemon. The socket is then that of a service that mounts a volume among other things, and would become that of
     * the daemon. A manager that does not tell what it started is believed to have started it.
     *
     * @param starter the process that starts the daemon
     */
    static void forgetIfOfAnother(Map<String, String> variables, long starter) {
        if (!variables.getOrDefault(STARTED, Long.toString(starter)).equals(Long.toString(starter))) {
            variables.remove(VARIABLE);
        }
    }

    /** Tells that this process serves the mount. The program that started it may end then. */
    void ready(Path mountPoint) {
        tell("READY=1\nMAINPID=" + ProcessHandle.current().pid() + "\nSTATUS=" + status(mountPoint, List.of()), true);
    }

    /**
     * Tells how the volume is. Waits for nothing, as {@link #stopping}: one that does not read must not hold up the
     * commands, nor the end of the volume.
     */
    void health(Path mountPoint, List<Finding> findings) {
        tell("STATUS=" + status(mountPoint, findings), false);
    }

    /** Tells that the mount has ended and the volume is being closed. */
    void stopping() {
        tell("STOPPING=1\nSTATUS=unmounted; closing the volume", false);
    }

    /** Tells that it takes up to ten minutes more, if nothing further is told. */
    void stopsLater() {
        tell("EXTEND_TIMEOUT_USEC=" + TimeUnit.MINUTES.toMicros(10), false);
    }

    /** Returns one line: the worst finding, and how many there are. */
    private static String status(Path mountPoint, List<Finding> findings) {
        String health =
                findings.isEmpty() ? Health.WELL.toString() : findings.get(0).line();
        String more = findings.size() > 1 ? " (and " + (findings.size() - 1) + " more)" : "";
        return Printable.line("mounted on " + mountPoint + ", " + health + more);
    }

    private void tell(String state, boolean waits) {
        if (socket.isEmpty()) {
            return;
        }
        try {
            new UnixDatagrams(socket).send(state.getBytes(StandardCharsets.UTF_8), waits);
        } catch (IOException e) {
            LOG.warn("the service manager is not told: {}", e.getMessage());
        }
    }
}
