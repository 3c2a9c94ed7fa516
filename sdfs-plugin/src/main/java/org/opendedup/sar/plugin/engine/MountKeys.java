package org.opendedup.sar.plugin.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.KeyHeaderCopies.Unlocked;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.cli.control.PluginFiles;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.sdfs.config.PluginStore;
import org.opendedup.sar.sdfs.config.PluginVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.keys.SecretEnvironment;
import org.opendedup.sar.sdfs.keys.SecretSource;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives the volume of a mount its keys, if it is encrypted: from the source that SDFS's volume file names. */
final class MountKeys implements SecretEnvironment {
    private static final Logger log = LoggerFactory.getLogger(MountKeys.class);

    /** What parts of memory a core dump has, as bits; core(5). */
    private static final Path CORE_DUMP_PARTS = Path.of("/proc/self/coredump_filter");

    private final PluginVolumeFile file;
    private final PluginStore store;
    private final SecretSource source;

    MountKeys(PluginVolumeFile file) {
        this.file = file;
        store = file.store();
        source = new SecretSource(
                found(PluginOptions.PASSPHRASE_FILE),
                found(PluginOptions.KEY_FILE),
                found(PluginOptions.PASSPHRASE_COMMAND),
                SecretSource.PASSPHRASE);
    }

    /**
     * Makes a new volume, with a key header if it is to be encrypted.
     *
     * @return the settings to open it with
     * @throws IOException if it cannot be made; if there is no passphrase, nothing was made
     */
    VolumeConfig create() throws IOException {
        VolumeConfig config = file.engineConfig();
        if (!store.isEncrypted()) {
            ChunkVolume.create(config);
            return config;
        }
        keepFromCoreDumps();
        byte[] master = KeyHeader.newMaster();
        try {
            KeyHeader header = header(master);
            VolumeConfig encrypted = config.withKeys(header.keys(master));
            ChunkVolume.create(encrypted);
            VolumeKeyHeader.write(header, config.locations());
            log.info(
                    "the chunks of {} are encrypted. Keep the master key in a safe: sdfscli {} key export FILE;"
                            + " without it, a lost passphrase is a lost volume",
                    store.volume(),
                    store.volume());
            return encrypted;
        } finally {
            Arrays.fill(master, (byte) 0);
        }
    }

    private KeyHeader header(byte[] master) throws IOException {
        try (Secret secret = source.getNew(this, "")) {
            // At most half of the heap, which SDFS has for itself otherwise.
            return VolumeKeyHeader.create(
                    master, Argon2Cost.measured(2 * Runtime.getRuntime().maxMemory()), secret);
        } catch (KeyException e) {
            throw explained(e);
        }
    }

    /**
     * Returns the settings to open the volume with.
     *
     * @throws IOException if it is encrypted and cannot be opened, or the volume file says the opposite of what is
     *     there
     */
    VolumeConfig unlock() throws IOException {
        VolumeConfig config = file.engineConfig();
        VolumeKeyHeader header = VolumeKeyHeader.of(store, source);
        if (header == null) {
            return config;
        }
        keepFromCoreDumps();
        try (Unlocked unlocked = header.unlock(this, source)) {
            header.repair(
                    unlocked,
                    PluginFiles.keyLock(store.volume(), config.locations().metadata()),
                    this::say);
            return config.withKeys(unlocked.opened().keys());
        } catch (KeyException e) {
            throw explained(e);
        }
    }

    private IOException explained(KeyException e) {
        if (e.reason() == KeyException.Reason.MISSING) {
            return new KeyException(
                    e.reason(),
                    e.getMessage() + ". A volume that was made without sar-encrypt cannot be encrypted later: make"
                            + " another one, and copy the files");
        } else if (e.reason() != KeyException.Reason.WRONG_SECRET) {
            return e;
        }
        return new IOException(
                "the chunks of " + store.volume() + " are encrypted, and cannot be opened: " + e.getMessage()
                        + ". The passphrase or key comes from what sar-passphrase-file, sar-key-file or"
                        + " sar-passphrase-command on <extended-config> name, else from the variable "
                        + SecretSource.PASSPHRASE + " of SDFS's process",
                e);
    }

    private <T> @Nullable T found(VolumeOption<T> option) {
        return file.values().find(option).orElse(null);
    }

    /** Leaves the heap, which has the keys, out of core dumps of SDFS's process; mount.sdfs does so for its daemon. */
    private static void keepFromCoreDumps() {
        try {
            Files.writeString(CORE_DUMP_PARTS, "0");
        } catch (IOException e) {
            log.warn("a core dump of this process may have the keys of the volume: {}", e.toString());
        }
    }

    @Override
    public Map<String, String> variables() {
        return System.getenv();
    }

    /** Returns null: SDFS mounts without a terminal. */
    @Override
    public char @Nullable [] ask(String question) {
        return null;
    }

    @Override
    public void say(String sentence) {
        log.warn("{}: {}", store.volume(), sentence);
    }
}
