package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;

/** The passphrases of a volume from its creation on, by the commands that people use. */
class KeyCommandTest {
    @MemoryFolder
    Path folder;

    private final Map<String, String> variables = new HashMap<>();
    /** What is typed at the terminal; an empty queue: there is no terminal. */
    private final Deque<String> typed = new ArrayDeque<>();

    private String out = "";
    private String err = "";
    private Path data;
    private Path metadata;

    @BeforeEach
    void makeAVolume() {
        variables.put("SDFS_CONFIG_DIR", folder.resolve("etc").toString());
        data = folder.resolve("base/chunkstore/chunks/volume.keys");
        metadata = folder.resolve("base/ddb/volume.keys");
        type("first passphrase", "first passphrase");
        assertEquals(ExitCode.OK, mkfs("--encrypt"), err);
        assertTrue(out.contains("sdfscli pool0 key export FILE"), out);
    }

    private void type(String... lines) {
        typed.addAll(List.of(lines));
    }

    private int mkfs(String... options) {
        String[] all = Stream.concat(
                        Stream.of("pool0", folder.resolve("base").toString(), "--volume-capacity=1GB"),
                        Arrays.stream(options))
                .toArray(String[]::new);
        return run(environment -> MkfsProgram.run(environment, all));
    }

    private int key(String... words) {
        String[] all =
                Stream.concat(Stream.of("pool0", "key"), Arrays.stream(words)).toArray(String[]::new);
        return run(environment -> CommandRunner.run(new SdfsCli(environment), environment, all));
    }

    private int check(String... options) {
        String[] all = Stream.concat(Stream.of("pool0"), Arrays.stream(options)).toArray(String[]::new);
        return run(environment -> CommandRunner.run(new CheckCommand(environment), environment, all));
    }

    private interface Command {
        int run(Environment environment);
    }

    private int run(Command command) {
        var output = new StringWriter();
        var errors = new StringWriter();
        var environment = new Environment(
                variables,
                new PrintWriter(output, true),
                new PrintWriter(errors, true),
                false,
                Reader.nullReader(),
                question -> typed.isEmpty() ? null : typed.remove().toCharArray(),
                () -> new Argon2Cost(64, 1, 1));
        int code = command.run(environment);
        out = output.toString();
        err = errors.toString();
        assertEquals(0, typed.size(), "left of what was typed");
        return code;
    }

    private Path file(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    private List<?> slots() throws IOException {
        assertEquals(ExitCode.OK, key("list", "--json"), err);
        return (List<?>) Json.read(out).get("slots");
    }

    @Test
    void aSlotIsAddedChangedTestedAndRemovedByAnySourceOfASecret() throws IOException {
        assertEquals(1, slots().size());
        assertArrayEquals(Files.readAllBytes(data), Files.readAllBytes(metadata));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(data)));

        // Typed wrongly once, and then a key file.
        Path keyFile = file("key", "\u0000\n\nbytes\n");
        type("wrong", "first passphrase");
        assertEquals(ExitCode.OK, key("add", "--label=boot", "--new-key-file=" + keyFile), err);
        assertTrue(err.contains("try again"), err);
        assertEquals(ExitCode.OK, key("test", "--key-file=" + keyFile), err);
        assertTrue(out.contains("slot 1 (key file, boot)"), out);

        variables.put("SDFS_NEW_PASSPHRASE", "by a variable");
        assertEquals(ExitCode.OK, key("add", "--passphrase-file=" + file("old", "first passphrase\n")), err);
        variables.clear();
        variables.put("SDFS_CONFIG_DIR", folder.resolve("etc").toString());
        variables.put("SDFS_PASSPHRASE", "by a variable");
        assertEquals(ExitCode.OK, key("test"), err);
        assertTrue(out.contains("slot 2"), out);

        // A command does not get the variable.
        assertEquals(ExitCode.OK, key("change", "--new-passphrase-command=echo \"printed$SDFS_PASSPHRASE\""), err);
        variables.remove("SDFS_PASSPHRASE");
        assertEquals(ExitCode.OK, key("test", "--passphrase-command=printf printed"), err);
        assertTrue(out.contains("slot 2 (command)"), out);
        assertEquals(ExitCode.NO_KEY, key("test", "--passphrase-file=" + file("old", "by a variable")));

        assertEquals(ExitCode.FAILED, key("remove", "1", "--key-file=" + keyFile));
        assertTrue(err.contains("a slot that stays"), err);
        assertEquals(ExitCode.OK, key("remove", "1", "--passphrase-command=echo printed"), err);
        assertEquals(ExitCode.NO_KEY, key("test", "--key-file=" + keyFile));
        assertEquals(ExitCode.OK, key("remove", "0", "--passphrase-command=echo printed"), err);
        assertEquals(ExitCode.FAILED, key("remove", "2", "--passphrase-command=echo printed"));
        assertTrue(err.contains("the only one"), err);
        assertEquals(1, slots().size());
        assertNoSecretIsLogged();
    }

    private void assertNoSecretIsLogged() throws IOException {
        String audit = Files.readString(folder.resolve("base/log/pool0.audit"));
        assertTrue(audit.contains("\"action\":\"change\"") && audit.contains("\"failed\""), audit);
        String xml = Files.readString(folder.resolve("etc/pool0-volume-cfg.xml"));
        assertTrue(xml.contains("encrypted=\"true\""), xml);
        for (String text : List.of(audit, xml)) {
            assertFalse(text.contains("passphrase\"") || text.contains("printed") || text.contains("variable"), text);
        }
    }

    @Test
    void withoutASecretNothingHappens() throws IOException {
        byte[] before = Files.readAllBytes(data);
        assertEquals(ExitCode.NO_KEY, key("add"));
        assertTrue(err.contains("no terminal"), err);
        assertEquals(ExitCode.NO_KEY, key("test", "--passphrase-file=" + folder.resolve("none")));
        assertEquals(ExitCode.NO_KEY, key("test", "--passphrase-file=" + file("empty", "\n")));
        assertEquals(ExitCode.NO_KEY, key("test", "--passphrase-command=echo first passphrase; exit 3"));
        assertTrue(err.contains("exit code 3"), err);
        type("a", "b", "c");
        assertEquals(ExitCode.NO_KEY, key("test"));
        type("first passphrase", "new", "mistyped");
        assertEquals(ExitCode.NO_KEY, key("add"));
        assertTrue(err.contains("differ"), err);
        Path open = file("open", "first passphrase");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        assertEquals(ExitCode.OK, key("test", "--passphrase-file=" + open));
        assertTrue(err.contains("every user may read"), err);
        assertEquals(ExitCode.USAGE, key("test", "--passphrase-file=a", "--key-file=b"));
        assertEquals(ExitCode.USAGE, key("add", "--from-export=a", "--key-file=b"));
        assertEquals(ExitCode.USAGE, key());
        assertArrayEquals(before, Files.readAllBytes(data));
    }

    @Test
    void eachFaultOfTheHeaderHasItsOwnMessageAndExitCode() throws IOException {
        byte[] good = Files.readAllBytes(data);
        variables.put("SDFS_PASSPHRASE", "first passphrase");

        byte[] damaged = good.clone();
        damaged[40] ^= 1;
        Files.write(metadata, damaged);
        assertEquals(ExitCode.OK, key("list"));
        assertTrue(out.contains("checksum is wrong"), out);
        assertEquals(ExitCode.OK, key("test"), err);
        assertTrue(err.contains("wrote " + metadata), err);
        assertArrayEquals(good, Files.readAllBytes(metadata));

        writeBoth(damaged);
        assertEquals(ExitCode.DAMAGED, key("test"));
        assertTrue(err.contains("checksum is wrong"), err);
        byte[] forged = good.clone();
        // The generation: as somebody would do who brings an older header back.
        forged[24] ^= 2;
        writeBoth(ParserSet.withCrc(forged, -4));
        assertEquals(ExitCode.DAMAGED, key("test"));
        assertTrue(err.contains("changed by somebody without the master key"), err);
        byte[] foreign = good.clone();
        foreign[10] ^= 1;
        writeBoth(ParserSet.withCrc(foreign, -4));
        assertEquals(ExitCode.DAMAGED, key("test"));
        assertTrue(err.contains("is that of volume"), err);
        Files.delete(data);
        Files.delete(metadata);
        assertEquals(ExitCode.DAMAGED, key("test"));
        assertTrue(err.contains("is missing"), err);

        // A volume file that denies the encryption.
        writeBoth(good);
        Path xml = folder.resolve("etc/pool0-volume-cfg.xml");
        Files.writeString(xml, Files.readString(xml).replace(" encrypted=\"true\"", ""));
        assertEquals(ExitCode.DAMAGED, key("test"));
        assertTrue(err.contains("does not say that the volume is encrypted"), err);
    }

    private void writeBoth(byte[] header) throws IOException {
        Files.write(data, header);
        Files.write(metadata, header);
    }

    /** Returns another number of a volume. */
    private static String changed(String number) {
        return number.substring(0, number.length() - 1) + (number.endsWith("a") ? 'b' : 'a');
    }

    @Test
    void anExportedMasterKeyMakesASlotAndALostHeaderAnew() throws IOException {
        variables.put("SDFS_PASSPHRASE", "first passphrase");
        Path safe = folder.resolve("safe.txt");
        assertEquals(ExitCode.OK, key("export", safe.toString()), err);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(safe)));
        assertEquals(ExitCode.FAILED, key("export", safe.toString()), "the file exists");

        variables.put("SDFS_NEW_PASSPHRASE", "second");
        variables.put("SDFS_PASSPHRASE", "forgotten");
        assertEquals(ExitCode.OK, key("add", "--from-export=" + safe), err);
        assertEquals(2, slots().size());

        Files.delete(data);
        Files.delete(metadata);
        variables.put("SDFS_NEW_PASSPHRASE", "third");
        assertEquals(ExitCode.OK, key("add", "--from-export=" + safe), err);
        variables.put("SDFS_PASSPHRASE", "third");
        assertEquals(ExitCode.OK, key("test"), err);
        assertEquals(1, slots().size());

        // The key of another volume, and another key for this one.
        byte[] before = Files.readAllBytes(data);
        String text = Files.readString(safe);
        String number = Pattern.compile("volume +(\\S{36})")
                .matcher(text)
                .results()
                .findFirst()
                .orElseThrow()
                .group(1);
        Path other = Files.writeString(folder.resolve("other"), text.replace(number, changed(number)));
        assertEquals(ExitCode.FAILED, key("add", "--from-export=" + other));
        Files.writeString(other, "no export");
        assertEquals(ExitCode.FAILED, key("add", "--from-export=" + other));
        assertArrayEquals(before, Files.readAllBytes(data));
    }

    @Test
    void aVolumeThatIsNotEncryptedHasNoKeysAndNoneAreAskedFor() throws IOException {
        variables.put("SDFS_CONFIG_DIR", folder.resolve("etc2").toString());
        Path base = folder.resolve("plain");
        variables.put("SDFS_PASSPHRASE", "of another volume");
        int made = run(environment -> MkfsProgram.run(environment, "pool0", base.toString(), "--volume-capacity=1GB"));
        assertEquals(ExitCode.OK, made, err);
        assertFalse(Files.exists(base.resolve("ddb/volume.keys")));
        assertEquals(ExitCode.OK, check(), err);
        assertEquals(ExitCode.FAILED, check("--key-file=" + folder.resolve("key")));
        assertTrue(err.contains("is not encrypted, and a passphrase or key is given"), err);
        variables.remove("SDFS_PASSPHRASE");
        assertFalse(
                Files.readString(folder.resolve("etc2/pool0-volume-cfg.xml")).contains("encrypted"));
        assertEquals(ExitCode.FAILED, key("list"));
        assertTrue(err.contains("is not encrypted"), err);
        int usage = run(environment -> MkfsProgram.run(
                environment, "pool1", folder.resolve("more").toString(), "--key-file=" + folder.resolve("key")));
        assertEquals(ExitCode.USAGE, usage);
        assertTrue(err.contains("--encrypt"), err);
        // Nothing is made without a passphrase.
        int none = run(environment -> MkfsProgram.run(
                environment, "pool1", folder.resolve("more").toString(), "--encrypt", "--volume-capacity=1GB"));
        assertEquals(ExitCode.NO_KEY, none);
        assertFalse(Files.exists(folder.resolve("more")));
    }

    @Test
    void aLostVolumeFileComesBackAndALostHeaderIsTold() throws IOException {
        Path xml = folder.resolve("etc/pool0-volume-cfg.xml");
        String text = Files.readString(xml);
        Files.delete(xml);
        String[] recover = {
            "--recover", data.getParent().toString(), metadata.getParent().toString()
        };
        assertEquals(ExitCode.OK, run(environment -> MkfsProgram.run(environment, recover)), err);
        assertEquals(text, Files.readString(xml));
        assertTrue(out.contains("  encrypted") && !out.contains("key header"), out);
        Files.delete(xml);
        Files.delete(data);
        Files.delete(metadata);
        assertEquals(ExitCode.OK, run(environment -> MkfsProgram.run(environment, recover)), err);
        assertTrue(out.contains("key header is in none of the locations"), out);
    }

    @Test
    void theCheckOpensTheHeaderAndRefusesWithoutIt() {
        assertEquals(ExitCode.NO_KEY, check());
        type("first passphrase");
        assertEquals(ExitCode.OK, check(), out + err);
    }

    @Test
    void aChangeThatFailsChangesNothingAndOneInForceSaysSo() throws IOException {
        variables.put("SDFS_PASSPHRASE", "first passphrase");
        variables.put("SDFS_NEW_PASSPHRASE", "second");
        byte[] before = Files.readAllBytes(data);
        Path away = Files.move(metadata.getParent(), folder.resolve("away"));
        assertEquals(ExitCode.FAILED, key("change"));
        assertTrue(err.contains("ddb is missing"), err);
        assertArrayEquals(before, Files.readAllBytes(data));
        Files.move(away, metadata.getParent());
        assertEquals(ExitCode.OK, key("test"), err);

        // It cannot be replaced by a file.
        Files.delete(metadata);
        Files.createDirectories(metadata.resolve("folder"));
        assertEquals(ExitCode.INCOMPLETE, key("change"));
        assertTrue(
                err.contains("the change is in force, but the copy in " + metadata.getParent() + " could not be"), err);
        String audit = Files.readString(folder.resolve("base/log/pool0.audit"));
        assertTrue(audit.contains("ddb is missing") && audit.contains("\"failures\":[\"the copy in"), audit);
        assertEquals(ExitCode.NO_KEY, key("test"));
        variables.put("SDFS_PASSPHRASE", "second");
        Files.delete(metadata.resolve("folder"));
        Files.delete(metadata);
        assertEquals(ExitCode.OK, key("test"), err);
        assertArrayEquals(Files.readAllBytes(data), Files.readAllBytes(metadata));

        // What cannot be recorded is done all the same.
        Files.move(folder.resolve("base/log"), folder.resolve("log"));
        Files.createFile(folder.resolve("base/log"));
        assertEquals(ExitCode.INCOMPLETE, key("add"));
        assertTrue(err.contains("the audit log has no line of it"), err);
        Path safe = folder.resolve("safe.txt");
        assertEquals(ExitCode.INCOMPLETE, key("export", safe.toString()));
        assertTrue(err.contains("the file is written, but the audit log has no line of it"), err);
        assertTrue(Files.size(safe) > 0);
        assertEquals(2, slots().size());
    }

    @Test
    void anExportReplacesNoHeaderThatMayBeGood() throws IOException {
        variables.put("SDFS_PASSPHRASE", "first passphrase");
        Path safe = folder.resolve("safe.txt");
        assertEquals(ExitCode.OK, key("export", safe.toString()), err);
        byte[] good = Files.readAllBytes(data);
        variables.put("SDFS_NEW_PASSPHRASE", "second");

        byte[] later = good.clone();
        later[4] = 2;
        byte[] forged = good.clone();
        forged[60] ^= 1;
        for (byte[] header : List.of(ParserSet.withCrc(later, -4), ParserSet.withCrc(forged, -4))) {
            writeBoth(header);
            assertEquals(ExitCode.DAMAGED, key("add", "--from-export=" + safe));
            assertTrue(err.contains("may be good, and is not replaced"), err);
            assertArrayEquals(header, Files.readAllBytes(data));
        }
        // A read error, and a damaged copy.
        Files.write(data, new byte[100]);
        Files.delete(metadata);
        Files.createDirectory(metadata);
        assertEquals(ExitCode.DAMAGED, key("add", "--from-export=" + safe));
        assertTrue(err.contains("may be good, and is not replaced"), err);
        Files.delete(metadata);
        assertEquals(ExitCode.OK, key("add", "--from-export=" + safe), err);

        // The copy that was lost comes back.
        Files.write(metadata, good);
        assertEquals(ExitCode.NO_KEY, key("test"));
        variables.put("SDFS_PASSPHRASE", "second");
        assertEquals(ExitCode.OK, key("test"), err);
        assertTrue(err.contains("older") && err.contains("wrote " + metadata), err);
    }

    @Test
    void aForgedCopyIsToldAndReplaced() throws IOException {
        byte[] good = Files.readAllBytes(data);
        byte[] forged = good.clone();
        // The generation.
        forged[30] ^= 2;
        Files.write(data, ParserSet.withCrc(forged, -4));
        variables.put("SDFS_PASSPHRASE", "first passphrase");
        assertEquals(ExitCode.OK, key("test"), err);
        assertTrue(err.contains(data + ": somebody without the master key changed it"), err);
        assertArrayEquals(good, Files.readAllBytes(data));
    }

    @Test
    void metadataThatAreReplacedLeaveTheHeaderInItsPlace() throws IOException {
        type("first passphrase");
        assertEquals(ExitCode.OK, check("--salvage-metadata=records"), out + err);
        Path aside = metadata.resolveSibling("damaged-1");
        assertTrue(Files.exists(aside.resolve("CURRENT")));
        assertFalse(Files.exists(aside.resolve("volume.keys")));
        assertArrayEquals(Files.readAllBytes(data), Files.readAllBytes(metadata));
    }

    /** The JVM reads U+FFFD in the place of bytes that are no characters: two such passphrases would be equal. */
    @Test
    void aPassphraseThatIsNoTextIsRefusedAndAKeyFileMayHaveAnyBytes() throws IOException {
        byte[] latin = {'s', 'm', (byte) 0xf6, 'r'};
        Path file = Files.write(file("latin", ""), latin);
        byte[] before = Files.readAllBytes(data);
        type("first passphrase", "sm\uFFFDr");
        assertEquals(ExitCode.NO_KEY, key("change"));
        assertTrue(err.contains("no characters in UTF-8"), err);
        type("first passphrase", "sm\uD800r");
        assertEquals(ExitCode.NO_KEY, key("change"));
        type("first passphrase");
        assertEquals(ExitCode.NO_KEY, key("change", "--new-passphrase-file=" + file));
        assertTrue(err.contains("no characters in UTF-8"), err);
        variables.put("SDFS_NEW_PASSPHRASE", "sm\uFFFDr");
        type("first passphrase");
        assertEquals(ExitCode.NO_KEY, key("change"));
        assertTrue(err.contains("the passphrase in SDFS_NEW_PASSPHRASE has bytes"), err);
        variables.remove("SDFS_NEW_PASSPHRASE");
        assertArrayEquals(before, Files.readAllBytes(data));

        type("first passphrase");
        assertEquals(ExitCode.OK, key("add", "--new-key-file=" + file), err);
        assertEquals(ExitCode.OK, key("test", "--key-file=" + file), err);
        type("first passphrase", "sm\u00f6r\ud83d\ude00", "sm\u00f6r\ud83d\ude00");
        assertEquals(ExitCode.OK, key("change"), err);
        Path text = file("text", "sm\u00f6r\ud83d\ude00\n");
        assertEquals(ExitCode.OK, key("test", "--passphrase-file=" + text), err);
    }
}
