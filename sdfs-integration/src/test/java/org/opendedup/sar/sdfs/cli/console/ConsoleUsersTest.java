package org.opendedup.sar.sdfs.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.jolokia.Role;

class ConsoleUsersTest {
    @TempDir
    Path folder;

    private CommandOutput output;

    private int console(String... words) {
        output = new CommandOutput(folder);
        String[] all = new String[words.length + 1];
        all[0] = "console";
        System.arraycopy(words, 0, all, 1, words.length);
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), all);
    }

    @Test
    void passwordsAreLongAndStoredAsHashesForTheOwnerOnly() throws IOException {
        var users = new ConsoleUsers(folder);
        assertFalse(users.exist());
        String password = users.add("admin", Role.CHANGE);
        assertTrue(password.matches("([a-z0-9]{5}-){4}[a-z0-9]{5}"), password);
        Path file = folder.resolve(ConsoleUsers.FILE);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertFalse(Files.readString(file).contains(password));
        assertTrue(users.check("admin", password).isPresent());
        assertTrue(users.check("admin", password + "x").isEmpty());
        assertTrue(users.check("nobody", password).isEmpty());
        String second = users.add("admin", Role.READ);
        assertNotEquals(password, second);
        assertTrue(users.check("admin", password).isEmpty(), "the old password");
        assertEquals(Role.READ, users.check("admin", second).orElseThrow().role());
        for (String name : List.of("", "Admin", "a b", "a:b", "-a", "a".repeat(33), "a\n")) {
            assertThrows(IllegalArgumentException.class, () -> users.add(name, Role.READ), name);
        }
    }

    /** The other one could write a user again that this one removes. */
    @Test
    void oneCommandAtATimeChangesTheUsers() throws IOException {
        var users = new ConsoleUsers(folder);
        users.add("admin", Role.CHANGE);
        try (LockFile other =
                LockFile.tryAcquire(folder.resolve(ConsoleUsers.LOCK)).orElseThrow()) {
            assertThrows(IOException.class, () -> users.remove("admin"));
            assertThrows(IOException.class, () -> users.add("other", Role.READ));
            assertEquals(ExitCode.FAILED, console("user", "remove", "admin"));
            assertTrue(output.err().contains("try again"), output.err());
            assertEquals(1, users.all().size());
        }
        assertTrue(users.remove("admin"), "the control");
        assertEquals(List.of(), users.all());
    }

    @Test
    void aFileThatOthersMayReadIsRefused() throws IOException {
        var users = new ConsoleUsers(folder);
        users.add("admin", Role.CHANGE);
        Files.setPosixFilePermissions(folder.resolve(ConsoleUsers.FILE), PosixFilePermissions.fromString("rw-r-----"));
        assertTrue(assertThrows(IOException.class, users::all).getMessage().contains("chmod 600"));
        Files.setPosixFilePermissions(folder.resolve(ConsoleUsers.FILE), PosixFilePermissions.fromString("rw-------"));
        assertEquals(1, users.all().size(), "the control");
    }

    @Test
    void aFileThatOthersMayReplaceIsRefused() throws IOException {
        var users = new ConsoleUsers(folder);
        users.add("admin", Role.CHANGE);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertTrue(assertThrows(IOException.class, users::all).getMessage().contains("chmod go-w " + folder));
        assertThrows(IOException.class, () -> TlsKeys.own(folder, "localhost"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertEquals(1, users.all().size(), "the control");
    }

    @Test
    void noPasswordIsPrintedToAJournal() throws IOException {
        output = new CommandOutput(folder);
        output.set("JOURNAL_STREAM", "8:1");
        assertEquals(
                ExitCode.FAILED, CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "console"));
        assertTrue(output.err().contains("sdfscli console user add admin --role=change"), output.err());
        assertEquals("", output.out());
        assertFalse(new ConsoleUsers(folder).exist());
    }

    @Test
    void theCommandAddsListsAndRemovesUsers() throws IOException {
        assertEquals(0, console("user", "add", "anna", "--role=change"), () -> output.err());
        String password = output.out().strip();
        assertTrue(new ConsoleUsers(folder).check("anna", password).isPresent(), password);
        assertEquals(0, console("user", "add", "bert"), () -> output.err());
        assertEquals(0, console("user", "list"));
        assertEquals(
                List.of("anna may change", "bert may read"),
                output.out().lines().map(line -> line.replaceAll(" +", " ")).toList());
        assertEquals(0, console("user", "remove", "anna"));
        assertEquals(ExitCode.FAILED, console("user", "remove", "anna"));
        assertEquals(ExitCode.USAGE, console("user", "add"));
        assertEquals(ExitCode.USAGE, console("user", "add", "x", "--role=rule"));
        assertEquals(ExitCode.USAGE, console("user", "dance"));
    }

    @Test
    void theCommandRefusesToListenBeyondLoopbackWithoutTls() {
        assertEquals(ExitCode.FAILED, console("--listen=0.0.0.0:0"));
        assertTrue(output.err().contains("--tls"), output.err());
        assertFalse(new ConsoleUsers(folder).exist(), "no password is lost");
        assertEquals(ExitCode.USAGE, console("--listen=here"));
        assertEquals(ExitCode.USAGE, console("--listen=127.0.0.1:99999"));
    }
}
