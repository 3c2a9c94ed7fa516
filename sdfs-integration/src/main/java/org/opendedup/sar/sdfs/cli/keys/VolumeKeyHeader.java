package org.opendedup.sar.sdfs.cli.keys;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.keys.KeyHeaderCopies.Unlocked;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.volume.config.VolumeConfig;

/** The key header of a volume, as commands use it. */
public final class VolumeKeyHeader {
    /** How often a passphrase may be typed. */
    private static final int TRIES = 3;

    private final VolumeDefinition definition;
    private final KeyHeaderCopies copies;

    private VolumeKeyHeader(VolumeDefinition definition) throws IOException {
        this.definition = definition;
        VolumeConfig.Locations locations = definition.config().locations();
        copies = KeyHeaderCopies.in(locations.data(), locations.metadata());
    }

    /**
     * Returns the header's place; null if the volume is not encrypted.
     *
     * @throws KeyException if the volume file does not say that the volume is encrypted, and there is a key header: the
     *     volume file is not the one of this volume, or was changed
     */
    public static @Nullable VolumeKeyHeader of(VolumeDefinition definition) throws IOException {
        var header = new VolumeKeyHeader(definition);
        if (definition.isEncrypted()) {
            return header;
        }
        if (header.copies.exist()) {
            throw new KeyException(
                    KeyException.Reason.OTHER_VOLUME,
                    "the volume file of '" + definition.config().name() + "' does not say that the volume is encrypted,"
                            + " and there is a key header (" + KeyHeader.NAME + ") beside its data: write"
                            + " encrypted=\"true\" to its element <volume>, or have it written anew by mkfs.sdfs"
                            + " --recover");
        }
        return null;
    }

    /**
     * As the other one, for a command with options for a secret. A secret means an encrypted volume. Refuses a volume
     * that is not encrypted, because the command would write to it in clear.
     *
     * @throws CommandFailedException if a secret is given, and the volume is not encrypted
     */
    public static @Nullable VolumeKeyHeader of(VolumeDefinition definition, SecretSource source)
            throws IOException, CommandFailedException {
        VolumeKeyHeader header = of(definition);
        if (header == null) {
            refuse(source, definition.config().name());
        }
        return header;
    }

    /** @throws CommandFailedException if a secret is given, for a volume that is not encrypted */
    public static void refuse(SecretSource source, String volume) throws CommandFailedException {
        if (source.isGiven()) {
            throw new CommandFailedException("the volume '" + volume + "' is not encrypted, and a passphrase or key is"
                    + " given: if it should be, somebody put another one in its place; else leave the passphrase or"
                    + " key out");
        }
    }

    /** Returns what is wrong with the copies, in words; empty if nothing is, or the volume is not encrypted. */
    public static List<String> faults(VolumeDefinition definition) throws IOException {
        try {
            return definition.isEncrypted()
                    ? new VolumeKeyHeader(definition).found().faults()
                    : List.of();
        } catch (KeyException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    /** Returns the two copies of the header. */
    public KeyHeaderCopies copies() {
        return copies;
    }

    /**
     * Reads the copies of this volume's header. Nothing of them is authenticated.
     *
     * @throws KeyException if none can be used
     */
    public KeyHeaderCopies.Found found() throws IOException {
        return copies.read(
                VolumeFileCopy.volumeIn(definition.config().locations().data()));
    }

    /** As {@link #found}; the exception says what to do. */
    public KeyHeaderCopies.Found read() throws IOException {
        try {
            return found();
        } catch (KeyException e) {
            String name = definition.config().name();
            boolean isLost = e.reason() == KeyException.Reason.MISSING || e.reason() == KeyException.Reason.DAMAGED;
            throw new KeyException(
                    e.reason(),
                    "the volume '" + name + "' is encrypted, and there is no key header: " + e.getMessage() + ". Bring "
                            + KeyHeader.NAME + " back from a copy"
                            + (isLost
                                    ? ", or make it anew from an exported master key: sdfscli " + name
                                            + " key add --from-export=FILE"
                                    : ""));
        }
    }

    /**
     * Reads the header, and opens it with the secret. Who types it may do so three times.
     *
     * @throws KeyException if it cannot be opened
     */
    public Unlocked unlock(Environment environment, SecretSource source) throws IOException {
        KeyHeaderCopies.Found found = read();
        for (int left = source.isTyped(environment) ? TRIES : 1; ; ) {
            Secret secret = source.get(
                    environment, "Passphrase of " + definition.config().name() + ": ");
            try (secret) {
                return found.open(secret);
            } catch (KeyException e) {
                if (--left == 0 || e.reason() != KeyException.Reason.WRONG_SECRET) {
                    throw e;
                }
                environment.err().println("That is not a passphrase of this volume; try again.");
            }
        }
    }

    /**
     * Writes the copies of the header that are missing, damaged, older or forged, and says so. A failure is only said.
     *
     * @param says gets each sentence
     */
    public void repair(Unlocked unlocked, Consumer<String> says) {
        unlocked.faults().forEach(fault -> says.accept("a copy of the key header is not as it should be: " + fault));
        try {
            copies.repair(unlocked.header(), unlocked.opened().master())
                    .forEach(file -> says.accept("wrote " + file + " anew"));
        } catch (IOException e) {
            says.accept("the copy of the key header could not be written: " + e.getMessage());
        }
    }

    /**
     * As {@link #repair(Unlocked, Consumer)}, for a command that does not hold the lock of those that change the
     * header. While one of them works, it does nothing: that one writes both copies.
     *
     * @param lock the lock file
     */
    public void repair(Unlocked unlocked, Path lock, Consumer<String> says) throws IOException {
        if (unlocked.faults().isEmpty()) {
            return;
        }
        PrivateFiles.createFolders(Objects.requireNonNull(lock.getParent()));
        try (LockFile held = LockFile.tryAcquire(lock).orElse(null)) {
            if (held != null) {
                repair(unlocked, says);
            }
        }
    }
}
