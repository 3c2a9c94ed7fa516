package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.Health;

/** What a service manager hears. Its socket is one of Python: the JDK has no datagrams of Unix. */
@Timeout(30)
class ServiceManagerTest {
    private static final String LISTENER = """
            import socket, sys
            name = sys.argv[1]
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind("\\0" + name[1:] if name[0] == "@" else name)
            print("bound", flush=True)
            while len(sys.argv) == 2:
                print(s.recv(4096).decode().replace("\\n", "|"), flush=True)
            sys.stdin.read()
            """;

    /** Linux queues 10 messages for a socket, and 512 where systemd runs; see max_dgram_qlen. */
    private static final int MORE_THAN_ARE_QUEUED = 1000;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void hearsWhenTheVolumeIsMountedHowItIsAndWhenItIsClosed(boolean isAbstract) throws IOException {
        String socket = (isAbstract ? "@" : "") + folder.resolve("notify");
        Process listener = new ProcessBuilder("python3", "-c", LISTENER, socket).start();
        try (BufferedReader heard = listener.inputReader(StandardCharsets.UTF_8)) {
            assertEquals("bound", heard.readLine());
            ServiceManager manager = ServiceManager.in(Map.of("NOTIFY_SOCKET", socket));
            Path mountPoint = Path.of("/mnt/pool0");
            manager.ready(mountPoint);
            long pid = ProcessHandle.current().pid();
            assertEquals("READY=1|MAINPID=" + pid + "|STATUS=mounted on /mnt/pool0, well", heard.readLine());
            var worst = new Finding("disk", Health.DEGRADED, "a disk\nfailed", "replace it", "");
            var other = new Finding("space", Health.DEGRADED, "it is full", "delete files", "");
            manager.health(mountPoint, List.of(worst, other));
            String status = heard.readLine();
            assertTrue(status.startsWith("STATUS=mounted on /mnt/pool0, degraded: a disk"), status);
            assertTrue(status.endsWith("failed; replace it (and 1 more)"), status);
            assertEquals(status.indexOf('|'), -1, "a status is one line");
            manager.stopping();
            assertEquals("STOPPING=1|STATUS=unmounted; closing the volume", heard.readLine());
        } finally {
            listener.destroyForcibly();
        }
    }

    /** Of a backup service, for example, that mounts the volume, and ends before the daemon does. */
    @Test
    void aDaemonDoesNotSpeakForAServiceThatMountsAVolume() {
        assertTrue(isHeardOf(Map.of()), "a manager that does not tell what it started");
        assertTrue(isHeardOf(Map.of("SYSTEMD_EXEC_PID", "4711")), "the control");
        assertFalse(isHeardOf(Map.of("SYSTEMD_EXEC_PID", "4712")));
    }

    private static boolean isHeardOf(Map<String, String> toldByTheManager) {
        Map<String, String> variables = new HashMap<>(toldByTheManager);
        variables.put("NOTIFY_SOCKET", "/run/notify");
        ServiceManager.forgetIfOfAnother(variables, 4711);
        return variables.containsKey("NOTIFY_SOCKET");
    }

    /** The control is the first message, which waits: the queue of the socket is full. */
    @Test
    void oneThatDoesNotReadHoldsUpNeitherTheHealthNorTheEnd() throws Exception {
        String socket = folder.resolve("notify").toString();
        Process listener = new ProcessBuilder("python3", "-c", LISTENER, socket, "deaf").start();
        try (BufferedReader heard = listener.inputReader(StandardCharsets.UTF_8)) {
            assertEquals("bound", heard.readLine());
            ServiceManager manager = ServiceManager.in(Map.of("NOTIFY_SOCKET", socket));
            for (int told = 0; told < MORE_THAN_ARE_QUEUED; told++) {
                manager.health(folder, List.of());
            }
            manager.stopping();
            var waiting = new Thread(() -> manager.ready(folder), "ready");
            waiting.start();
            waiting.join(500);
            assertTrue(waiting.isAlive(), "the control");
            listener.destroyForcibly();
            waiting.join();
        } finally {
            listener.destroyForcibly();
        }
    }

    @Test
    void withoutOneNothingIsSentAndALostOneIsNoFailure() {
        ServiceManager.in(Map.of()).stopping();
        ServiceManager.in(Map.of("NOTIFY_SOCKET", folder.resolve("gone").toString()))
                .stopping();
    }
}
