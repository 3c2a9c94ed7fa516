package org.opendedup.sar.sdfs.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.KeyExport;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.keys.KeyHeaderCopies.Unlocked;
import org.opendedup.sar.keys.KeySlot;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.audit.Actor;
import org.opendedup.sar.sdfs.audit.AuditLog;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.keys.NewSecretOptions;
import org.opendedup.sar.sdfs.cli.keys.SecretOptions;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * {@code sdfscli VOLUME key}: the passphrases and keys of an encrypted volume. The commands read and write the key
 * header themselves, whether the volume is mounted or not: the daemon has no use for the header after it has begun, and
 * Argon2id needs more memory than it has to spare.
 */
@Command(
        name = "key",
        description = {
            "The passphrases and keys that open an encrypted volume.",
            "",
            "Up to eight slots have the volume's master key, each under a passphrase, a key file or what a command",
            "prints. A change asks for a passphrase or key that the volume has, also while it is mounted. It "
                    + "writes the",
            "key header only: a mounted volume goes on, and nothing stored is written anew."
        },
        footer = {
            "Environment: SDFS_PASSPHRASE      a passphrase of the volume",
            "             SDFS_NEW_PASSPHRASE  that of the new slot",
            "",
            "docs/operations/encryption.md says what to do when a passphrase, a disk or a header is lost."
        })
final class KeyCommand extends VolumeCommand {
    private static final String SLOT = "Number of a slot, as sdfscli VOLUME key list shows it.";

    @Override
    public Integer call() {
        throw usage("name a command, such as sdfscli VOLUME key list");
    }

    /** What is done to the header. */
    @FunctionalInterface
    private interface Change {
        /** Returns the new header. */
        KeyHeader of(KeyHeader header, KeyHeader.Opened opened) throws IOException, CommandFailedException;
    }

    /** A slot in a report. */
    private record Shown(int slot, String kind, String label, String made, long memoryBytes, int passes, int lanes) {
        static Shown of(KeySlot slot) {
            Argon2Cost cost = slot.cost();
            return new Shown(
                    slot.number(),
                    slot.kind().toString(),
                    slot.label(),
                    slot.made().toString(),
                    (long) cost.memoryKib() << 10,
                    cost.passes(),
                    cost.lanes());
        }
    }

    @Command(
            description = {
                "Lists the slots; needs no passphrase.",
                "",
                "Without a key it checks the checksums of the header's two copies only, which anybody can make. Key",
                "test checks the keyed hash, and so does the status of a mounted volume.",
                "",
                "Cost: memory and passes of Argon2id for one try of a passphrase."
            })
    void list() throws IOException, CommandFailedException {
        KeyHeaderCopies.Found found = header().read();
        KeyHeader header = found.header();
        Map<String, Object> report = report(header);
        report.put("faults", found.faults());
        var text = new StringBuilder(String.format(
                "%s: key header %d, %s%n%-5s %-11s %-20s %-16s %s",
                cli().name(), header.generation(), header.cipher(), "SLOT", "KIND", "MADE", "COST", "LABEL"));
        for (KeySlot slot : header.slots()) {
            text.append(String.format(
                    "%n%-5d %-11s %-20s %-16s %s", slot.number(), slot.kind(), slot.made(), slot.cost(), slot.label()));
        }
        found.faults()
                .forEach(fault -> text.append(String.format(
                        "%nA copy of the header is not as it should be: %s. sdfscli %s key test writes it anew",
                        fault, cli().name())));
        text.append(String.format(
                "%nOnly checksums were checked; sdfscli %s key test checks that nobody changed the header.",
                cli().name()));
        print(report, text.toString().replaceAll("(?m) +$", ""));
    }

    private Map<String, Object> report(KeyHeader header) {
        var report = new LinkedHashMap<String, Object>();
        report.put("volumeId", header.volume().toString());
        report.put("generation", header.generation());
        report.put("cipher", header.cipher().toString());
        report.put("slots", header.slots().stream().map(Shown::of).toList());
        return named(report);
    }

    @Command(
            description = {
                "Says which slot a passphrase or key opens, and checks that nobody changed the header.",
                "",
                "Writes a copy of the header anew that is missing, damaged, forged or older than the other."
            })
    void test(@Mixin SecretOptions secrets) throws IOException, CommandFailedException {
        try (LockFile lock = lock();
                Unlocked unlocked = unlock("test", secrets)) {
            KeySlot slot = unlocked.opened().slot();
            note("test", Map.of("opens", slot.number()));
            Map<String, Object> report = named(Map.of("opens", Shown.of(slot)));
            report.put("faults", unlocked.faults());
            print(
                    report,
                    "It opens slot " + slot.number() + " (" + slot.kind()
                            + (slot.label().isEmpty() ? "" : ", " + slot.label()) + ") of " + cli().name() + ".");
        }
    }

    @Command(
            description = {
                "Adds a slot with another passphrase or key.",
                "",
                "With --from-export, the master key comes from a file of key export in place of a passphrase. "
                        + "So a slot",
                "can be added when all passphrases are lost, and a key header made anew when both copies are."
            },
            footer = {
                "Examples:",
                "  sdfscli pool0 key add --label=alice                       # asks for one of the volume, and "
                        + "for the new one",
                "  sdfscli pool0 key add --new-key-file=/etc/sdfs/pool0.key --label=boot",
                "  sdfscli pool0 key add --from-export=/media/safe/pool0.txt"
            })
    int add(
            @Mixin SecretOptions secrets,
            @Mixin NewSecretOptions newSecrets,
            @Option(
                            names = "--label",
                            paramLabel = "TEXT",
                            defaultValue = "",
                            description = "What the list shows with it; up to 64 bytes.")
                    String label,
            @Option(
                            names = "--from-export",
                            paramLabel = "FILE",
                            description = "File of key export with the master key.")
                    @Nullable
                    Path export)
            throws IOException, CommandFailedException {
        if (export != null) {
            if (secrets.source().isGiven()) {
                throw usage("add", "--from-export takes the place of a passphrase of the volume: give one of them");
            }
            return addFromExport(export, newSecrets, label);
        }
        return change("add", secrets, (header, opened) -> {
            try (Secret secret = newSecret("add", newSecrets)) {
                return header.withSlot(opened.master(), label, Instant.now(), cost(), secret);
            }
        });
    }

    private int addFromExport(Path file, NewSecretOptions newSecrets, String label)
            throws IOException, CommandFailedException {
        VolumeKeyHeader place = header();
        try (LockFile lock = lock();
                KeyExport export = KeyExport.parse(Files.readString(file))) {
            UUID data = VolumeFileCopy.volumeIn(cli().locations().data());
            if (data == null || !export.volume().equals(data)) {
                throw new CommandFailedException(
                        file + " has " + export + ", and the data are those of volume " + data);
            }
            KeyHeader old = readOrNull(place, export);
            KeyHeader changed;
            try (Secret secret = newSecret("add", newSecrets)) {
                changed = old == null
                        ? KeyHeader.create(data, export.cipher(), export.master(), label, Instant.now(), cost(), secret)
                        : old.withSlot(export.master(), label, Instant.now(), cost(), secret);
            } catch (IllegalArgumentException e) {
                throw refused(e);
            }
            return finish("add", place, old, changed);
        }
    }

    /**
     * Returns the present header; null if both copies are lost, so that it is to be made anew.
     *
     * @throws KeyException if there is a header that this program cannot read, which may be good, or one that is not of
     *     this master key: the export may be the wrong one
     */
    private @Nullable KeyHeader readOrNull(VolumeKeyHeader place, KeyExport export) throws IOException {
        try {
            return place.found().authentic(export.master());
        } catch (KeyException e) {
            if (e.reason() == KeyException.Reason.MISSING || e.reason() == KeyException.Reason.DAMAGED) {
                say("the key header is made anew, without its other slots: " + e.getMessage());
                return null;
            }
            throw new KeyException(
                    e.reason(),
                    "the key header may be good, and is not replaced: " + e.getMessage()
                            + ". To give up its slots, move " + KeyHeader.NAME + " away at both places");
        }
    }

    @Command(
            description = {
                "Puts another passphrase or key in the place of one; the slot keeps its number and its label.",
                "",
                "The master key stays the same: who has a copy of the disks and the old passphrase can still read them."
            })
    int change(
            @Parameters(arity = "0..1", paramLabel = "SLOT", description = SLOT + " Default: the one that opens.")
                    @Nullable
                    Integer slot,
            @Mixin SecretOptions secrets,
            @Mixin NewSecretOptions newSecrets)
            throws IOException, CommandFailedException {
        return change("change", secrets, (header, opened) -> {
            int number =
                    header.slot(slot == null ? opened.slot().number() : slot).number();
            try (Secret secret = newSecret("change", newSecrets)) {
                return header.withSecret(opened.master(), number, Instant.now(), cost(), secret);
            }
        });
    }

    @Command(
            description = {
                "Removes a slot.",
                "",
                "Asks for a passphrase or key of another slot, so that one is left that somebody has. The last "
                        + "slot cannot",
                "be removed."
            },
            footer = {
                "The slot's bytes are overwritten by a new file; a disk may keep the old ones for long, and so "
                        + "may a copy"
                        + " of the",
                "disks."
            })
    int remove(@Parameters(paramLabel = "SLOT", description = SLOT) int slot, @Mixin SecretOptions secrets)
            throws IOException, CommandFailedException {
        return change("remove", secrets, (header, opened) -> {
            KeyHeader changed = header.withoutSlot(opened.master(), slot, Instant.now());
            if (opened.slot().number() == slot) {
                throw new CommandFailedException(
                        "this opens slot " + slot + " itself: give a passphrase or key of a slot that stays");
            }
            return changed;
        });
    }

    @Command(
            description = {
                "Writes the master key to a new file that only you can read, to be printed and kept in a safe.",
                "",
                "Whoever has it can read the volume, and every copy of it, whatever is done to the passphrases later."
            },
            footer = {
                "Example:",
                "  sdfscli pool0 key export /dev/shm/pool0.txt && lp /dev/shm/pool0.txt; shred -u /dev/shm/pool0.txt"
            })
    int export(
            @Parameters(paramLabel = "FILE", description = "The file to make.") Path file, @Mixin SecretOptions secrets)
            throws IOException, CommandFailedException {
        try (LockFile lock = lock();
                Unlocked unlocked = unlock("export", secrets);
                var export = new KeyExport(
                        unlocked.header().volume(),
                        unlocked.header().cipher(),
                        unlocked.opened().master())) {
            Path absolute = file.toAbsolutePath();
            try (var out = PrivateFiles.createNew(absolute)) {
                out.write(export.text(cli().name(), Instant.now()).getBytes(UTF_8));
            } catch (FileAlreadyExistsException e) {
                throw new CommandFailedException(file + " exists already; name a new file");
            }
            AtomicFile.move(absolute, absolute);
            List<String> failures = noteDone("export", Map.of("file", absolute.toString()));
            failures.forEach(failure -> say("the file is written, but " + failure));
            print(
                    named(Map.of("file", absolute.toString())),
                    "Wrote the master key of " + cli().name() + " to " + absolute
                            + ". Print it or move it to a safe place, and delete the file.");
            return failures.isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE;
        }
    }

    /** Asks for a secret of the volume, and writes the header as it is changed. */
    private int change(String action, SecretOptions secrets, Change change) throws IOException, CommandFailedException {
        try (LockFile lock = lock();
                Unlocked unlocked = unlock(action, secrets)) {
            KeyHeader changed;
            try {
                changed = change.of(unlocked.header(), unlocked.opened());
            } catch (IllegalArgumentException e) {
                throw refused(e);
            }
            return finish(action, header(), unlocked.header(), changed);
        }
    }

    private Unlocked unlock(String action, SecretOptions secrets) throws IOException, CommandFailedException {
        try {
            VolumeKeyHeader header = header();
            Unlocked unlocked = header.unlock(cli().environment(), secrets.source());
            header.repair(unlocked, this::say);
            return unlocked;
        } catch (KeyException e) {
            failed(action, e);
            throw e;
        }
    }

    /**
     * Writes the changed header, and says what became of it.
     *
     * @param before the header from which it was made; null: all copies are lost
     * @return the exit code
     * @throws IOException if nothing was changed
     */
    private int finish(String action, VolumeKeyHeader place, @Nullable KeyHeader before, KeyHeader changed)
            throws IOException {
        List<String> failures;
        try {
            failures = new ArrayList<>(place.copies().write(changed, before));
        } catch (IOException e) {
            failed(action, e);
            throw e;
        }
        failures.replaceAll(failure -> failure + "; key test and the next mount write it");
        List<Integer> slots = changed.slots().stream().map(KeySlot::number).toList();
        Map<String, ?> details = Map.of("generation", changed.generation(), "slots", slots, "failures", failures);
        failures.addAll(noteDone(action, details));
        failures.forEach(failure -> say("the change is in force, but " + failure));
        Map<String, Object> report = report(changed);
        report.put("failures", failures);
        print(
                report,
                "Done. " + cli().name() + " has the slots " + slots + "; sdfscli " + cli().name() + " key list"
                        + " shows them.");
        return failures.isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE;
    }

    /** Records what was done; returns why it could not be recorded, in words. */
    private List<String> noteDone(String action, Map<String, ?> details) {
        try {
            note(action, details);
            return List.of();
        } catch (IOException e) {
            return List.of("the audit log has no line of it: " + FailureText.of(e));
        }
    }

    /** Records that nothing was changed. */
    private void failed(String action, IOException because) {
        Closing.after(because, () -> note(action, Map.of("failed", FailureText.of(because))));
    }

    private Secret newSecret(String action, NewSecretOptions options) throws IOException {
        try {
            return options.source().getNew(cli().environment(), "New passphrase of " + cli().name() + ": ");
        } catch (IllegalArgumentException e) {
            throw usage(action, String.valueOf(e.getMessage()));
        }
    }

    private Argon2Cost cost() throws IOException {
        return cli().environment().newCost().get();
    }

    private static CommandFailedException refused(IllegalArgumentException e) {
        return new CommandFailedException(String.valueOf(e.getMessage()));
    }

    private ParameterException usage(String subcommand, String message) {
        return new ParameterException(
                Objects.requireNonNull(spec).commandLine().getSubcommands().get(subcommand), message);
    }

    /**
     * @throws CommandFailedException if the volume is not encrypted, or its files belong to another user: that user
     *     could not read what this one writes
     */
    private VolumeKeyHeader header() throws IOException, CommandFailedException {
        VolumeKeyHeader header = cli().keyHeader();
        if (header == null) {
            throw new CommandFailedException("the volume '" + cli().name() + "' is not encrypted, and has no keys;"
                    + " only " + (cli().isOfPlugin() ? "sar-plugin enable" : "mkfs.sdfs")
                    + " --encrypt makes an encrypted one");
        }
        Path data = cli().locations().data();
        if (Files.isDirectory(data)) {
            Object owner = Files.getOwner(data);
            Object self = Files.getOwner(Path.of("/proc/self"));
            if (!owner.equals(self)) {
                throw new CommandFailedException(
                        data + " belongs to the user " + owner + ": run this command as that user");
            }
        }
        return header;
    }

    /** Lets one command at a time work on the header. */
    private LockFile lock() throws IOException, CommandFailedException {
        Path lock = cli().keyLock();
        // It lies in the metadata of a volume of the plugin, whose first mount makes only what is not there.
        if (cli().isOfPlugin() && VolumeFileCopy.volumeIn(cli().locations().data()) == null) {
            throw new CommandFailedException("there are no chunks of '" + cli().name() + "' in "
                    + cli().locations().data() + ": the first mount by SDFS makes them, or a disk is not mounted");
        }
        PrivateFiles.createFolders(Objects.requireNonNull(lock.getParent()));
        return LockFile.tryAcquire(lock)
                .orElseThrow(() -> new CommandFailedException(
                        "another command works on the keys of '" + cli().name() + "'; try again when it has ended"));
    }

    private void say(String line) {
        cli().environment().err().println("sdfscli: " + Printable.line(line));
    }

    /**
     * Records what was done, or failed, in the audit log, to which a daemon alone writes while it serves the volume.
     */
    private void note(String action, Map<String, ?> details) throws IOException {
        var arguments = new LinkedHashMap<String, Object>();
        arguments.put("action", action);
        arguments.putAll(details);
        if (cli().tryAsk(VolumeCommands.KEY, arguments).isPresent()) {
            return;
        }
        Path log = cli().auditLog();
        PrivateFiles.createFolders(Objects.requireNonNull(log.getParent()));
        try (AuditLog audit = new AuditLog(log)) {
            audit.note(VolumeCommands.KEY, Actor.ofThisProcess(), Map.of("arguments", arguments, "result", "done"));
        }
    }
}
