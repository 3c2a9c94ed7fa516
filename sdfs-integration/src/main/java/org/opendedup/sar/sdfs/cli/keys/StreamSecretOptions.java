package org.opendedup.sar.sdfs.cli.keys;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.keys.SecretSource;
import picocli.CommandLine.Option;

/** The options of a command that reads a stream of an encrypted volume: where the secret of that volume comes from. */
public final class StreamSecretOptions {
    @Option(
            names = "--stream-passphrase-file",
            paramLabel = "FILE",
            description = "File with the passphrase of the volume that was sent, if that is encrypted. Without one of "
                    + "these three options: the variable SDFS_STREAM_PASSPHRASE, else asked for.")
    @Nullable
    Path passphraseFile;

    @Option(
            names = "--stream-key-file",
            paramLabel = "FILE",
            description = "File whose bytes, all of them, are a key of the volume that was sent.")
    @Nullable
    Path keyFile;

    @Option(
            names = "--stream-passphrase-command",
            paramLabel = "COMMAND",
            description = "Command of a shell that prints that passphrase.")
    @Nullable
    String command;

    /** @throws IllegalArgumentException if more than one is given */
    public SecretSource source() {
        return new SecretSource(passphraseFile, keyFile, command, SecretSource.STREAM_PASSPHRASE);
    }
}
