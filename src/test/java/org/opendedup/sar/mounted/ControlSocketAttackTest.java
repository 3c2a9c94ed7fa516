package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;

/** Whatever is sent to the control socket, or not sent, the daemon continues to serve and to answer. */
class ControlSocketAttackTest {
    private static final int SILENT = 200;
    private static final long ANSWER_SECONDS_MAX = 20;

    @TempDir
    Path folder;

    @Test
    void theDaemonAnswersWhateverComesToItsSocket() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("talked")))) {
            volume.mount();
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), Bytes.random(1, 100_000));

            say(volume, Bytes.random(2, 50_000));
            say(volume, "\n\n\n".getBytes(StandardCharsets.UTF_8));
            say(volume, filled('[', 60_000));
            say(volume, filled('x', 10 << 20));
            say(volume, "{\"version\":1,\"command\":".getBytes(StandardCharsets.UTF_8));
            assertAnswers(volume);

            List<SocketChannel> silent = new ArrayList<>();
            try {
                connect(volume, silent);
                assertTrue(silent.size() > 10, silent::toString);
                assertAnswers(volume);
            } finally {
                for (SocketChannel channel : silent) {
                    channel.close();
                }
            }
            assertAnswers(volume);
        }
    }

    private static byte[] filled(char character, int length) {
        byte[] bytes = new byte[length + 1];
        Arrays.fill(bytes, (byte) character);
        bytes[length] = '\n';
        return bytes;
    }

    /** Sends it and closes the connection. The daemon may close it first. */
    private static void say(MountedVolume volume, byte[] bytes) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(volume.socket()))) {
            ByteBuffer left = ByteBuffer.wrap(bytes);
            while (left.hasRemaining()) {
                channel.write(left);
            }
        } catch (IOException e) {
            assertTrue(String.valueOf(e.getMessage()).matches("(?i).*(broken pipe|connection reset).*"), e::toString);
        }
    }

    /** Connects many times; as many times as the daemon's queue permits at once. */
    private static void connect(MountedVolume volume, List<SocketChannel> silent) throws IOException {
        for (int i = 0; i < SILENT; i++) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            silent.add(channel);
            channel.configureBlocking(false);
            try {
                channel.connect(UnixDomainSocketAddress.of(volume.socket()));
            } catch (IOException e) {
                silent.remove(channel);
                channel.close();
                return;
            }
        }
    }

    private static void assertAnswers(MountedVolume volume) throws IOException {
        long start = System.nanoTime();
        assertEquals(100_000, volume.figure("stats", "logicalBytes"));
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertTrue(seconds < ANSWER_SECONDS_MAX, () -> "an answer after " + seconds + " s");
        assertEquals(
                new Bytes.Comparison(25, 0, 0),
                Bytes.compare(volume.mountPoint().resolve("file"), Bytes.random(1, 100_000)));
    }
}
