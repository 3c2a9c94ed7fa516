package org.opendedup.sar.sdfs.keys;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.keys.KeyHeaderCopies.Unlocked;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.stream.StreamKeys;

/** The key header of a volume, as commands and SDFS's process use it. */
public final class VolumeKeyHeader {
    /** How often a passphrase may be typed. */
    private static final int TRIES = 3;

    private final String volume;
    private final Path data;
    private final KeyHeaderCopies copies;

    private VolumeKeyHeader(String volume, VolumeConfig.Locations locations) throws IOException {
        this.volume = volume;
        data = locations.data();
        copies = copies(locations);
    }

    private static KeyHeaderCopies copies(VolumeConfig.Locations locations) throws IOException {
        RemoteSettings store = locations.remote();
        return store == null
                ? KeyHeaderCopies.in(locations.data(), locations.metadata())
                : KeyHeaderCopies.inStore(store.store(), locations.data());
    }

    /**
     * Returns the header's place; null if the volume is not encrypted.
     *
     * @throws KeyException if the volume file does not say that the volume is encrypted, and there is a key header: the
     *     volume file is not the one of this volume, or was changed
     */
    public static @Nullable VolumeKeyHeader of(VolumeDefinition definition) throws IOException {
        return new VolumeKeyHeader(
                        definition.config().name(), definition.config().locations())
                .orAbsent(
                        definition.isEncrypted(),
                        "write encrypted=\"true\" to its element <volume>, or have it written anew by mkfs.sdfs"
                                + " --recover");
    }

    /** As the other one, for a volume of OpenDedup SDFS with the plugin. */
    public static @Nullable VolumeKeyHeader of(PluginStore store) throws IOException {
        return new VolumeKeyHeader(store.volume(), store.locations())
                .orAbsent(store.isEncrypted(), "set sar-encrypt=\"true\" on its element <extended-config>");
    }

    /** @param remedy what makes the volume file say that the volume is encrypted */
    private @Nullable VolumeKeyHeader orAbsent(boolean isEncrypted, String remedy) throws IOException {
        if (!isEncrypted && copies.exist()) {
            throw new KeyException(
                    KeyException.Reason.OTHER_VOLUME,
                    "the volume file of '" + volume + "' does not say that the volume is encrypted, and there is a key"
                            + " header (" + KeyHeader.NAME + ") beside its data: " + remedy);
        }
        return isEncrypted ? this : null;
    }

    /**
     * As the other one, for a command with options for a secret. A secret means an encrypted volume. Refuses a volume
     * that is not encrypted, because the command would write to it in clear.
     *
     * @throws IOException if a secret is given, and the volume is not encrypted
     */
    public static @Nullable VolumeKeyHeader of(VolumeDefinition definition, SecretSource source) throws IOException {
        return orRefuse(of(definition), source, definition.config().name());
    }

    /** As the other one, for a volume of OpenDedup SDFS with the plugin. */
    public static @Nullable VolumeKeyHeader of(PluginStore store, SecretSource source) throws IOException {
        return orRefuse(of(store), source, store.volume());
    }

    private static @Nullable VolumeKeyHeader orRefuse(
            @Nullable VolumeKeyHeader header, SecretSource source, String volume) throws IOException {
        if (header == null && source.isGiven()) {
            throw new IOException("the volume '" + volume + "' is not encrypted, and a passphrase or key is"
                    + " given: if it should be, somebody put another one in its place; else leave the passphrase or"
                    + " key out");
        }
        return header;
    }

    /**
     * Makes the header of a new volume, with one slot; nothing is written.
     *
     * @param master the master key
     */
    public static KeyHeader create(byte[] master, Argon2Cost cost, Secret secret) throws IOException {
        return KeyHeader.create(
                UUID.randomUUID(), KeyHeader.cipherOfMachine(), master, "", Instant.now(), cost, secret);
    }

    /**
     * Writes the header of a new volume to its locations, which are there.
     *
     * @throws IOException if it is not at both places
     */
    public static void write(KeyHeader header, VolumeConfig.Locations locations) throws IOException {
        List<String> failures = copies(locations).write(header, null);
        if (!failures.isEmpty()) {
            throw new IOException("the key header was not written: " + String.join("; ", failures));
        }
    }

    /**
     * Returns what is wrong with the copies, in words, for who has the keys of the volume. Of a volume in an object
     * store only with the one of this machine: a daemon asks every few seconds, and a store takes money for it.
     */
    static List<String> faults(VolumeConfig config, VolumeKeys keys) throws IOException {
        Path data = config.locations().data();
        try {
            KeyHeaderCopies here =
                    config.locations().remote() == null ? copies(config.locations()) : KeyHeaderCopies.inFolder(data);
            return here.read(VolumeFileCopy.volumeIn(data)).faults(keys);
        } catch (KeyException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Returns what seals the stream of a snapshot; null if the volume is not encrypted.
     *
     * @throws KeyException if no copy of the key header is authentic: nobody could open the stream
     */
    public static @Nullable StreamKeys streamKeys(VolumeConfig config) throws IOException {
        VolumeKeys keys = config.keys();
        return keys == null
                ? null
                : new StreamKeys(
                        keys,
                        new VolumeKeyHeader(config.name(), config.locations())
                                .found()
                                .bytes(keys));
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
        return copies.read(VolumeFileCopy.volumeIn(data));
    }

    /** As {@link #found}; the exception says what to do. */
    public KeyHeaderCopies.Found read() throws IOException {
        try {
            return found();
        } catch (KeyException e) {
            boolean isLost = e.reason() == KeyException.Reason.MISSING || e.reason() == KeyException.Reason.DAMAGED;
            throw new KeyException(
                    e.reason(),
                    "the volume '" + volume + "' is encrypted, and there is no key header: " + e.getMessage()
                            + ". Bring "
                            + KeyHeader.NAME + " back from a copy"
                            + (isLost
                                    ? ", or make it anew from an exported master key: sdfscli " + volume
                                            + " key add --from-export=FILE"
                                    : ""));
        }
    }

    /**
     * Reads the header, and opens it with the secret. Who types it may do so three times.
     *
     * @throws KeyException if it cannot be opened
     */
    public Unlocked unlock(SecretEnvironment environment, SecretSource source) throws IOException {
        KeyHeaderCopies.Found found = read();
        for (int left = source.isTyped(environment) ? TRIES : 1; ; ) {
            Secret secret = source.get(environment, "Passphrase of " + volume + ": ");
            try (secret) {
                return found.open(secret);
            } catch (KeyException e) {
                if (--left == 0 || e.reason() != KeyException.Reason.WRONG_SECRET) {
                    throw e;
                }
                environment.say("That is not a passphrase of this volume; try again.");
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
