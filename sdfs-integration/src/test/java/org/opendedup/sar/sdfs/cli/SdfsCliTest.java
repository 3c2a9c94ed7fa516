package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeFile;

class SdfsCliTest {
    @TempDir
    Path folder;

    private CommandOutput output;

    @BeforeEach
    void makeAVolume() throws IOException {
        output = new CommandOutput(folder);
        VolumeFile.write(
                new ConfigDirectory(folder).fileOf("pool0"), Definitions.plain("pool0", folder.resolve("base")));
    }

    @Test
    void infoWorksWithoutADaemon() throws IOException {
        assertEquals(0, cli("pool0", "info", "--json"));
        Map<String, Object> info = Json.read(output.out());
        assertEquals("not mounted", info.get("state"));
        assertEquals("pool0", info.get("name"));
        assertEquals(10L << 30, info.get("capacityBytes"));
        assertEquals(0, cli("pool0", "info"));
        assertTrue(output.out().contains("  state                    not mounted"), output.out());
    }

    @Test
    void statsSaysHowToMount() {
        assertEquals(ExitCode.NOT_MOUNTED, cli("pool0", "stats"));
        assertEquals(
                "sdfscli: the volume 'pool0' is not mounted; mount it: mount.sdfs pool0 MOUNTPOINT",
                output.err().strip());
    }

    @Test
    void unmountOfWhatIsNotMountedSaysSo() {
        assertEquals(ExitCode.NOT_MOUNTED, cli("pool0", "unmount"));
        assertEquals("sdfscli: the volume 'pool0' is not mounted", output.err().strip());
    }

    /** As with {@code > /dev/full}. The control writes to what takes it. */
    @Test
    void outputThatCannotBeWrittenIsAFailure() {
        for (boolean takes : new boolean[] {true, false}) {
            var said = new StringWriter();
            var environment = new Environment(
                    Map.of("SDFS_CONFIG_DIR", folder.toString()),
                    new PrintWriter(takes ? new StringWriter() : new FullDevice(), true),
                    new PrintWriter(said, true));
            int code = CommandRunner.run(new SdfsCli(environment), environment, "pool0", "info");
            assertEquals(takes ? ExitCode.OK : ExitCode.FAILED, code);
            assertEquals(takes, said.toString().isEmpty(), said.toString());
            assertTrue(takes || said.toString().contains("the output could not be written"), said.toString());
        }
    }

    private static final class FullDevice extends Writer {
        @Override
        public void write(char[] characters, int offset, int length) throws IOException {
            throw new IOException("No space left on device");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void listsTheVolumesEvenWhenAFileIsDamaged() throws IOException {
        Files.writeString(new ConfigDirectory(folder).fileOf("broken"), "<subsystem");
        assertEquals(ExitCode.FAILED, cli("--list"));
        assertTrue(output.out().contains("pool0"), output.out());
        assertTrue(output.out().contains("not mounted"), output.out());
        assertTrue(output.out().contains("unknown: "), output.out());
    }

    @Test
    void eachReasonForNoAnswerHasItsExitCode() {
        assertEquals(ExitCode.NO_SUCH_VOLUME, cli("pool1"));
        assertEquals(ExitCode.NOT_MOUNTED, cli("pool0"));
        assertEquals(ExitCode.NOT_MOUNTED, cli("pool0", "gc"));
    }

    /**
     * The kernel accepts connections for a daemon that hangs, until too many wait; a caller then waits for the kernel.
     */
    @Test
    void aDaemonThatDoesNotAnswerHoldsNobodyUp() throws IOException {
        VolumeFile.write(
                new ConfigDirectory(folder).fileOf("pool1"), Definitions.plain("pool1", folder.resolve("base1")));
        List<SocketChannel> waiting = new ArrayList<>();
        try (ServerSocketChannel silent = listen(0)) {
            assertEquals(ExitCode.NO_ANSWER, cli("pool0", "status"));
            assertEquals("", output.out());
            assertTrue(output.err().contains("does not answer within 5 s"), output.err());
            assertThrows(SocketException.class, () -> {
                while (true) {
                    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                    waiting.add(channel);
                    channel.configureBlocking(false);
                    channel.connect(silent.getLocalAddress());
                }
            });
            assertEquals(ExitCode.NO_ANSWER, cli("--list"));
            assertTrue(output.out().matches("(?s)pool0 +does not answer\n" + "pool1 +not mounted\n"), output.out());
        } finally {
            for (SocketChannel channel : waiting) {
                channel.close();
            }
        }
    }

    /** The daemon of the first volume answers only when that of the second was asked. */
    @Test
    void volumesAreAskedSideBySide() throws Exception {
        VolumeFile.write(
                new ConfigDirectory(folder).fileOf("pool1"), Definitions.plain("pool1", folder.resolve("base1")));
        Files.writeString(folder.resolve("no volume-volume-cfg.xml"), "<no/>");
        try (ServerSocketChannel first = listen("pool0", 1);
                ServerSocketChannel second = listen("pool1", 1)) {
            Thread daemons = new Thread(() -> {
                try (SocketChannel asked = second.accept();
                        SocketChannel before = first.accept()) {
                    for (SocketChannel one : List.of(before, asked)) {
                        one.read(ByteBuffer.allocate(1 << 16));
                        one.write(StandardCharsets.UTF_8.encode("{\"ok\":true,\"result\":{\"state\":\"mounted\"}}\n"));
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            daemons.start();
            assertEquals(ExitCode.FAILED, cli("--list"));
            assertTrue(
                    output.out().matches("(?s)no volume +unknown: [^\n]*\npool0 +mounted\npool1 +mounted\n"),
                    output.out());
            daemons.join();
        }
    }

    private ServerSocketChannel listen(int backlog) throws IOException {
        return listen("pool0", backlog);
    }

    private ServerSocketChannel listen(String volume, int backlog) throws IOException {
        Path socket = output.environment()
                .runFiles(new ConfigDirectory(folder).read(volume))
                .socket();
        Files.createDirectories(socket.getParent());
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket), backlog);
    }

    /** A daemon may end while it answers. The record that it removes last tells how it closed the volume. */
    @ParameterizedTest
    @ValueSource(strings = {"closed", "of the next daemon", "not closed"})
    void aDaemonThatEndsWithoutAnAnswerHasClosedTheVolumeIfItSaidSo(String record) throws Exception {
        boolean inOrder = !record.equals("not closed");
        RunFiles files = output.environment().runFiles(new ConfigDirectory(folder).read("pool0"));
        try (ServerSocketChannel daemon = listen(8)) {
            if (!record.equals("closed")) {
                long pid = ProcessHandle.current().pid() + (inOrder ? 1 : 0);
                Files.writeString(files.lastEnd(), "{\"pid\": " + pid + ", \"at\": \"2026-01-01T00:00:00Z\"}");
            }
            Thread answering = new Thread(() -> answerPings(daemon));
            answering.start();
            assertEquals(inOrder ? ExitCode.OK : ExitCode.FAILED, cli("pool0", "unmount"), output::err);
            assertTrue(
                    (output.out() + output.err()).contains(inOrder ? "Unmounted" : "not closed in order"), output::err);
            daemon.close();
            answering.join();
        }
    }

    private static void answerPings(ServerSocketChannel daemon) {
        try {
            while (true) {
                try (SocketChannel client = daemon.accept()) {
                    var request = new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8)).readLine();
                    if (request.contains("ping")) {
                        client.write(StandardCharsets.UTF_8.encode("{\"version\":1,\"ok\":true,\"result\":{\"pid\":"
                                + ProcessHandle.current().pid() + ",\"mountPoint\":\"/mnt\"}}\n"));
                    }
                }
            }
        } catch (IOException e) {
            assertInstanceOf(ClosedChannelException.class, e);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | name a volume, a volume and a command",
                "--list pool0 | --list names all volumes",
                "stats | name the volume first",
                "pool0 statz | stats",
                "pool0 info here | not known, or one too many: here",
                "pool0 stats --jsn | --json",
                "a/b stats | no volume name",
                "pool0 top --interval=0 | it must be from 1 to 3600",
                "pool0 top --interval=3601 | it must be from 1 to 3600",
            })
    void refusesWrongUsage(String arguments, String message) {
        assertEquals(ExitCode.USAGE, cli(arguments.isEmpty() ? new String[0] : arguments.split(" ")));
        assertTrue(output.err().contains(message), output.err());
    }

    @ParameterizedTest
    @CsvSource({"--help", "--version", "help", "help info", "info --help", "pool0 stats --version", "unmount --help"})
    void helpAndVersionSucceed(String arguments) {
        assertEquals(0, cli(arguments.split(" ")));
        assertTrue(output.out().length() > 10, output.out());
    }

    private int cli(String... arguments) {
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments);
    }
}
