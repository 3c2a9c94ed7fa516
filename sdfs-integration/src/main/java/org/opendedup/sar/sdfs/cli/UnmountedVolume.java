package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.sdfs.audit.Actor;
import org.opendedup.sar.sdfs.audit.AuditLog;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.keys.SecretSource;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;

/** A volume that is not mounted: its file, and what opens it in this process. */
record UnmountedVolume(VolumeClient cli) {

    /**
     * Changes the volume file while holding the volume's lock, so that no daemon starts meanwhile. The audit log has
     * it.
     *
     * @param command which changes it, with its arguments, as a daemon would get them
     * @throws CommandFailedException if a daemon serves the volume or is about to, or the change is not allowed
     */
    void change(String command, Map<String, ?> arguments, UnaryOperator<VolumeDefinition> change)
            throws IOException, CommandFailedException {
        RunFiles files = cli.runFiles();
        PrivateFiles.createFolders(files.runFolder());
        try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow(this::inUse)) {
            VolumeDefinition before = VolumeFile.read(cli.volumeFile());
            VolumeFile.write(cli.volumeFile(), StoredVolumeFile.changed(before, change));
            note(command, arguments);
        } catch (IllegalArgumentException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
    }

    private CommandFailedException inUse() {
        return new CommandFailedException("the volume '" + cli.name() + "' is being mounted or unmounted; try again");
    }

    /** What is done with a volume that is opened in this process. */
    @FunctionalInterface
    interface Use<T> {
        T of(VolumeConfig config) throws IOException;
    }

    /**
     * Does something with the volume while holding its lock, so that no daemon starts meanwhile.
     *
     * @param secrets where the passphrase comes from if the volume is encrypted
     * @param insteadOfUnmount what can be done while it is mounted, as a sentence; empty: nothing
     * @throws CommandFailedException if it is mounted, or another process uses it
     */
    <T> T use(SecretSource secrets, String insteadOfUnmount, Use<T> use) throws IOException, CommandFailedException {
        RunFiles files = cli.runFiles();
        PrivateFiles.createFolders(files.runFolder());
        try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow(() -> served(files, insteadOfUnmount))) {
            VolumeDefinition definition = VolumeFile.read(cli.volumeFile());
            VolumeKeyHeader header = VolumeKeyHeader.of(definition, secrets);
            if (header == null) {
                return use.of(config(definition, null));
            }
            try (KeyHeaderCopies.Unlocked unlocked = header.unlock(cli.environment(), secrets)) {
                header.repair(
                        unlocked,
                        files.keyLock(),
                        line -> cli.environment().err().println("sdfscli: " + line));
                return use.of(config(definition, unlocked.opened().keys()));
            }
        }
    }

    /** Records in the audit log what a command did; no daemon writes to it meanwhile. */
    void note(String command, Map<String, ?> arguments) throws IOException {
        Path log = cli.auditLog();
        PrivateFiles.createFolders(Objects.requireNonNull(log.getParent()));
        try (AuditLog audit = new AuditLog(log)) {
            audit.note(command, Actor.ofThisProcess(), Map.of("arguments", arguments, "result", "done"));
        }
    }

    /** Returns the settings of the engine, with a memory budget that fits into this process. */
    private static VolumeConfig config(VolumeDefinition definition, @Nullable VolumeKeys keys) {
        long most = Runtime.getRuntime().maxMemory() / 5 * 6;
        long least = MemoryPlan.leastBudget(definition.engineConfig());
        long budget = Math.max(least, Math.min(definition.config().memoryBudgetBytes(), most));
        return definition
                .with(VolumeOptions.MEMORY_BUDGET, budget)
                .engineConfig()
                .withKeys(keys);
    }

    private CommandFailedException served(RunFiles files, String insteadOfUnmount) {
        Map<String, Object> state = ControlSocket.ping(files.socket()).orElse(Map.of());
        if (!state.containsKey("mountPoint")) {
            return new CommandFailedException(
                    "the volume '" + cli.name() + "' is in use by another process; try again when that has ended");
        }
        return new CommandFailedException("the volume '" + cli.name() + "' is " + state.get("state") + " on "
                + state.get("mountPoint") + "; unmount it first: sdfscli " + cli.name() + " unmount"
                + (insteadOfUnmount.isEmpty() ? "" : ". " + insteadOfUnmount));
    }
}
