package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/** The client without a JVM, against a daemon in this one: the same bytes as the command in a JVM. */
@Timeout(120)
class ServedCommandsTest {
    private static final int NOT_RUN = 125;

    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private VolumeDefinition definition;
    private Path client;

    @BeforeEach
    void makeTheClient() throws IOException {
        assumeTrue(Commands.run("sh", "-c", "command -v cc").exitCode() == 0, "needs a C compiler");
        client = folder.resolve("client");
        Path source = Commands.projectFolder().resolve("scripts/sdfs-client.c");
        assertEquals("", Commands.succeed("cc", "-O2", "-Wall", "-Wextra", "-o", client, source));
        definition = Definitions.withSsd("pool0", folder.resolve("base"));
    }

    private RunningDaemon daemon() throws IOException, InterruptedException {
        var served = new ServedCommands();
        return new RunningDaemon(folder, definition, service, Map.of(ServedCommands.COMMAND, served::answer));
    }

    private record Output(int code, String out, String err) {
        /** Without what differs from one call to the next. */
        Output steady() {
            return new Output(
                    code,
                    out.replaceAll("((rssBytes|uptimeSeconds|jvmHeap\\w*)\\W+)[^\\n]*", "$1")
                            .replaceAll("for \\d+ s", ""),
                    err);
        }
    }

    private Output client(String... words) throws IOException, InterruptedException {
        return client(Map.of(), words);
    }

    private Output client(Map<String, String> variables, String... words) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(client.toString(), "pool0"));
        command.addAll(List.of(words));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        var builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().put("SDFS_CONFIG_DIR", folder.toString());
        builder.environment().remove("SDFS_RUN_DIR");
        builder.environment().putAll(variables);
        int code = builder.start().waitFor();
        return new Output(code, Files.readString(out), Files.readString(err));
    }

    @Test
    void theClientWritesTheSameBytes() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            for (String command : List.of(
                    "",
                    "--json",
                    "status",
                    "status --json",
                    "--json status",
                    "info",
                    "info --json",
                    "stats",
                    "df",
                    "df --json",
                    "top --once",
                    "gc status",
                    "scrub status --json",
                    "heal status",
                    "sar status",
                    "tier status",
                    "index status",
                    "chunk abcd",
                    "chunk abcd --json")) {
                String[] words = command.isEmpty() ? new String[0] : command.split(" ");
                int code = daemon.cli(words);
                Output expected = new Output(code, daemon.out(), daemon.err()).steady();
                assertEquals(expected, client(words).steady(), command);
                assertNotEquals("", expected.out + expected.err, command);
            }
            // What is not well, with an exit code, characters that are escaped, and a message on the error stream.
            service.stopped = "bad \"disk\" \\ \u0007 \u00e9\u20ac\ud83d\ude00";
            for (String command : List.of("status", "status --json")) {
                int code = daemon.cli(command.split(" "));
                assertEquals(1, code);
                assertEquals(
                        new Output(code, daemon.out(), daemon.err()).steady(),
                        client(command.split(" ")).steady());
            }
            // The control: another command has another output.
            assertNotEquals(client("df"), client("stats"));
        }
    }

    /** What would read files of the caller, change something, last, or be interrupted. */
    @Test
    void whatIsNotForTheDaemonIsLeftToAJvm() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            for (String command : List.of(
                    "--help",
                    "statsu",
                    "file /etc/passwd",
                    "restore a b",
                    "gc",
                    "gc status --wait",
                    "gc stop",
                    "unmount",
                    "top",
                    "sar explain a",
                    "damaged",
                    "support-bundle",
                    "metadata-backup --list",
                    "chunk \u00e9",
                    "status \"")) {
                assertEquals(new Output(NOT_RUN, "", ""), client(command.split(" ")), command);
            }
            assertEquals(NOT_RUN, client(Map.of("SDFS_CONFIG_DIR", folder + "/no")).code);
            assertEquals(NOT_RUN, client(Map.of("SDFS_CONFIG_DIR", "relative")).code);
            assertEquals(0, client(Map.of("SDFS_RUN_DIR", run().socketFolder().toString())).code, "the control");
            assertFalse(ServedCommands.isServed(List.of("--list")));
            assertFalse(ServedCommands.isServed(List.of("@words", "status")), "picocli would read a file");
        }
        assertEquals(new Output(NOT_RUN, "", ""), client("status"), "it is not mounted");
    }

    private RunFiles run() {
        return new RunFiles(definition, RunFiles.runFolder(definition));
    }

    @Test
    void anotherUserGetsNoAnswer() throws Exception {
        assumeTrue(CallingUser.isRoot(), "needs root, to be another user");
        try (RunningDaemon daemon = daemon()) {
            // As if somebody had opened the socket to all.
            Path socket = run().socket();
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
            String ask = "import os,socket,sys\nos.chdir(sys.argv[1])\nos.setuid(int(sys.argv[3]))\n"
                    + "s=socket.socket(socket.AF_UNIX)\ns.connect('pool0.sock')\n"
                    + "s.sendall(b'{\"version\":1,\"command\":\"run\",\"arguments\":{\"words\":[\"pool0\",\"df\"],"
                    + "\"configFolder\":\"'+sys.argv[2].encode()+b'\",\"runFolder\":\"\"}}\\n')\n"
                    + "print(s.makefile().readline())";
            Files.setPosixFilePermissions(socket.getParent(), PosixFilePermissions.fromString("rwxr-xr-x"));
            for (int user : new int[] {65534, 0}) {
                String reply = Commands.succeed("python3", "-c", ask, socket.getParent(), folder, user);
                assertEquals(user != 0, reply.contains("\"ok\":false"), reply);
                assertEquals(user == 0, reply.contains("available"), reply);
            }
        }
    }

    @Test
    void outputThatCannotBeWrittenIsAFailure() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            String shell = "SDFS_CONFIG_DIR=\"$0\" \"$1\" pool0 df 2>&1 >/dev/full; echo \"code $?\"";
            String said = Commands.succeed("sh", "-c", shell, folder, client);
            assertTrue(said.contains("sdfscli: the output could not be written"), said);
            assertTrue(said.endsWith("code 1\n"), said);
        }
    }
}
