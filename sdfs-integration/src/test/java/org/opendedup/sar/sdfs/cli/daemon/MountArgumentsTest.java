package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.keys.SecretSource;

/**
 * Options of fstab that say where a passphrase comes from: the command takes them, and the daemon does not see them.
 */
class MountArgumentsTest {
    private final MountService service = new FuseMountService();

    private static MountArguments with(String... options) {
        var arguments = new MountArguments();
        arguments.options = List.of(options);
        return arguments;
    }

    @Test
    void theSourceOfAPassphraseIsTakenOutOfTheMountOptions() {
        MountArguments arguments = with("ro,passphrase_file=/a/b", "noexec,memory_budget=1GB");
        assertEquals("ro,noexec", arguments.mountOptions(service));
        SecretSource source = arguments.secretSource();
        assertEquals(Path.of("/a/b"), source.passphraseFile());
        assertFalse(arguments.handedOn("ro,noexec").toString().contains("/a/b"));
        arguments.checkOption("key_file=/k", service);
    }

    @Test
    void theOptionsMayBeSpelledAsThoseOfTheCommandLineAndTheLastCounts() {
        assertEquals(
                "printf x y",
                with("passphrase-command=printf x y").secretSource().command());
        assertEquals(
                Path.of("/2"), with("key_file=/1,key-file=/2").secretSource().keyFile());
        assertEquals("", with("key-file=/1").mountOptions(service));
        SecretSource none = with("ro").secretSource();
        assertEquals(null, none.keyFile());
        assertEquals("SDFS_PASSPHRASE", none.variable());
    }
}
