package org.opendedup.sar.sdfs.cli.keys;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.keys.SecretSource;
import picocli.CommandLine.Option;

/** The options of a command that makes a slot: where its secret comes from. */
public final class NewSecretOptions {
    @Option(
            names = "--new-passphrase-file",
            paramLabel = "FILE",
            description = "File with the new passphrase. Without one of these three options: the variable "
                    + "SDFS_NEW_PASSPHRASE, else asked for, twice.")
    @Nullable
    Path passphraseFile;

    @Option(
            names = "--new-key-file",
            paramLabel = "FILE",
            description = "File whose bytes are the new key, such as 64 of /dev/urandom.")
    @Nullable
    Path keyFile;

    @Option(
            names = "--new-passphrase-command",
            paramLabel = "COMMAND",
            description = "Command of a shell that prints the new passphrase.")
    @Nullable
    String command;

    /** @throws IllegalArgumentException if more than one is given */
    public SecretSource source() {
        return new SecretSource(passphraseFile, keyFile, command, SecretSource.NEW_PASSPHRASE);
    }
}
