package org.opendedup.sar.sdfs.cli.keys;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.keys.SecretSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of each command that opens an encrypted volume. None of them has a secret. */
public final class SecretOptions {
    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec spec;

    @Option(
            names = "--passphrase-file",
            paramLabel = "FILE",
            description = "File with the passphrase of an encrypted volume; a line break at its end does not count. "
                    + "Without one of these three options: the variable SDFS_PASSPHRASE, else asked for.")
    @Nullable
    Path passphraseFile;

    @Option(
            names = "--key-file",
            paramLabel = "FILE",
            description = "File whose bytes, all of them, are the key of an encrypted volume.")
    @Nullable
    Path keyFile;

    @Option(
            names = "--passphrase-command",
            paramLabel = "COMMAND",
            description = "Command of a shell that prints the passphrase, such as one that asks a KMS or a TPM.")
    @Nullable
    String command;

    /** Returns the mount option that names the same source; empty if none is given, or an option cannot have it. */
    public String mountOption() {
        if (command != null && !command.contains(",")) {
            return "passphrase_command=" + command;
        }
        Path file = passphraseFile == null ? keyFile : passphraseFile;
        if (file == null || file.toString().contains(",")) {
            return "";
        }
        return (file.equals(keyFile) ? "key_file=" : "passphrase_file=")
                + file.toAbsolutePath().normalize();
    }

    /** @throws ParameterException if more than one is given */
    public SecretSource source() {
        try {
            return new SecretSource(passphraseFile, keyFile, command, SecretSource.PASSPHRASE);
        } catch (IllegalArgumentException e) {
            if (spec == null) {
                throw e;
            }
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
