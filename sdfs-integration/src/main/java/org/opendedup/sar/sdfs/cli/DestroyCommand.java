package org.opendedup.sar.sdfs.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.daemon.LastEnd;
import org.opendedup.sar.sdfs.cli.removal.VolumeRemoval;
import org.opendedup.sar.sdfs.config.OwnFiles;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.config.RemoteSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME destroy}: removes a volume that is not mounted, with all its files. */
@Command(
        name = "destroy",
        description = {
            "Removes an unmounted volume with all its files.",
            "",
            "Prints what will be removed, and waits until the name of the volume is typed. Removes the containers,",
            "names, recipes and counts with their backups in the data location, the index, what is on the SSD, the",
            "log, and the volume file. Other files in these folders stay, and are named. No link is followed.",
            "",
            "Of an encrypted volume it first overwrites both copies of the key header: then nothing of the volume can",
            "be read, also if the removal is interrupted, except with an export of the master key or a copy of the",
            "header. A disk may keep overwritten bytes; SSDs do.",
            "",
            "Of a volume in an object store it removes what this machine has: the volume stays in the store, and other",
            "machines, or this one again, can mount it. It is refused if the folders here may have what the store does",
            "not have yet.",
            "",
            "A volume with a snapshot that is held is not removed before the time to which it is held.",
            "",
            "Backups of the metadata in other folders stay. So does the volume's line in /etc/fstab."
        },
        footer = {
            "A removal that was interrupted is finished by the same command. The volume cannot be mounted meanwhile.",
            "",
            "Exit codes:  0 removed, 1 failed, or the name was not typed",
            "             5 no such volume   64 wrong usage",
            "",
            "Example:",
            "  sdfscli pool0 destroy"
        })
final class DestroyCommand extends VolumeCommand {
    private static final Path FSTAB = Path.of("/etc/fstab");

    @Option(names = "--yes", description = "Remove it without waiting for the name.")
    boolean yes;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = cli();
        cli.requireFiles();
        VolumeRemoval found = checkedRemoval();
        RunFiles files = found.runFiles();
        if (found.isBegun() && !Files.isDirectory(files.definition().basePath())) {
            // Of an interrupted removal: nothing is left that a daemon could serve.
            return destroy(found);
        }
        PrivateFiles.createFolders(files.runFolder());
        try (LockFile held = LockFile.tryAcquire(files.lock()).orElseThrow(() -> inUse(found))) {
            // Who had the lock before may have given the volume another folder, or removed it.
            return destroy(checkedRemoval());
        }
    }

    private VolumeRemoval checkedRemoval() throws IOException, CommandFailedException {
        VolumeClient cli = cli();
        VolumeRemoval removal =
                VolumeRemoval.of(cli.environment().configDirectory(), cli.name(), cli.environment()::runFiles);
        removal.check();
        return removal;
    }

    private CommandFailedException inUse(VolumeRemoval removal) {
        Map<String, Object> state =
                ControlSocket.ping(removal.runFiles().socket()).orElse(Map.of());
        return new CommandFailedException("the volume '" + cli().name() + "' is "
                + (state.containsKey("mountPoint")
                        ? state.get("state") + " on " + state.get("mountPoint") + ", by process " + state.get("pid")
                                + "; unmount it first: sdfscli " + cli().name() + " unmount"
                        : "in use by another process; try again when that has ended"));
    }

    private int destroy(VolumeRemoval removal) throws IOException, CommandFailedException {
        removal.requireUnused();
        if (!removal.isBegun()) {
            requireSent(removal);
        }
        requireNotHeld(removal);
        Map<OwnFiles, OwnFiles.Found> found = removal.find();
        if (!yes) {
            cli().environment().err().print(plan(removal, found));
            confirm();
        }
        long files = found.values().stream().mapToLong(OwnFiles.Found::files).sum();
        long bytes = found.values().stream().mapToLong(OwnFiles.Found::bytes).sum();
        var progress = new ProgressLine(cli().environment());
        List<Path> left = removal.remove(files, (done, of) -> progress.at("files removed", done, of));
        progress.clear();
        List<String> others = found.values().stream()
                .flatMap(place -> place.others().stream())
                .map(Path::toString)
                .toList();
        List<String> stays = left.stream().map(Path::toString).toList();
        var report = new LinkedHashMap<String, Object>();
        report.put("removedFiles", files);
        report.put("removedBytes", bytes);
        report.put("keyHeaderErased", removal.isEncrypted());
        report.put("objectStore", removal.store());
        report.put("foldersLeft", stays);
        report.put("othersLeft", others);
        print(
                named(report),
                (removal.store().isEmpty() ? "Removed the volume " : "Removed from this machine the volume ")
                        + cli().name() + ": " + files + " files, " + ByteSize.rounded(bytes) + "."
                        + (removal.store().isEmpty() ? "" : "\nThe volume stays in " + removal.store() + ".")
                        + (removal.isEncrypted() && removal.store().isEmpty()
                                ? "\nThe key header was overwritten first. Exports of the master key, and copies of the"
                                        + " header, still open copies of the volume: destroy these yourself."
                                : "")
                        + (stays.isEmpty()
                                ? ""
                                : "\nThese folders stay, because they are mount points, or have something else: "
                                        + String.join(", ", stays))
                        + (others.isEmpty() ? "" : "\nNot of the volume: " + String.join(", ", others))
                        + fstabLine(removal.store()));
        return ExitCode.OK;
    }

    /**
     * The folders of a machine that did not end in order may have what the object store lacks, whatever the durability
     * is now: it may have been changed since.
     */
    private void requireSent(VolumeRemoval removal) throws CommandFailedException {
        RemoteSettings store = removal.definition().store();
        if (store == null) {
            return;
        }
        Optional<LastEnd.Found> end = new LastEnd(removal.runFiles().lastEnd()).found();
        if (end.isPresent()) {
            throw new CommandFailedException("the folders of this machine may have what " + store.store()
                    + " does not have yet: " + end.get().text()
                    + ". Mount and unmount the volume first, which sends it."
                    + " If that cannot be done, remove yourself what is left: "
                    + String.join(", ", removal.folders()) + ", and at last " + removal.volumeFile());
        }
    }

    /** A held snapshot keeps the whole volume. */
    private void requireNotHeld(VolumeRemoval removal) throws IOException, CommandFailedException {
        if (!removal.store().isEmpty()) {
            // It is still there after this.
            return;
        }
        Path metadata = removal.runFiles().definition().config().locations().metadata();
        long until = HeldUntil.of(metadata);
        if (until > System.currentTimeMillis()) {
            throw new CommandFailedException("a snapshot of the volume '" + cli().name() + "' is held until "
                    + Instant.ofEpochMilli(until) + ": the volume cannot be removed before; nothing was removed");
        }
    }

    private String plan(VolumeRemoval removal, Map<OwnFiles, OwnFiles.Found> found) {
        var lines = new ArrayList<String>();
        lines.add((removal.isBegun() ? "This finishes the removal of the volume " : "This removes the volume ")
                + cli().name()
                + (removal.store().isEmpty()
                        ? " with all its files:"
                        : " from this machine; it stays in " + removal.store() + ":"));
        found.forEach((place, here) -> lines.add(String.format(
                "  %-32s %s: %s",
                place.what(),
                place.folder(),
                Files.isDirectory(place.folder())
                        ? here.files() + " files, " + ByteSize.rounded(here.bytes())
                        : "missing")));
        lines.add(String.format("  %-32s %s", "volume file", removal.volumeFile()));
        if (removal.isEncrypted()) {
            String copies = removal.store().isEmpty() ? "both copies" : "the copy of this machine";
            lines.add(String.format("  %-32s %s", "key header", copies + ", overwritten before all else"));
        }
        String others = found.values().stream()
                .flatMap(place -> place.others().stream())
                .map(Path::toString)
                .collect(Collectors.joining(", "));
        if (!others.isEmpty()) {
            lines.add("Not of the volume, so it stays: " + others);
        }
        return String.join("\n", lines) + (removal.store().isEmpty() ? "\nNothing brings them back.\n" : "\n");
    }

    private void confirm() throws IOException, CommandFailedException {
        cli().environment().err().print("Type the name of the volume to remove it: ");
        cli().environment().err().flush();
        String typed = new BufferedReader(cli().environment().in()).readLine();
        if (typed == null || !typed.strip().equals(cli().name())) {
            throw new CommandFailedException("the name was not typed; nothing was removed");
        }
    }

    /**
     * Returns a line that names the volume's line of fstab, if it has one.
     *
     * @param store address by which the line may name the volume, too; empty: none
     */
    private String fstabLine(String store) throws IOException {
        if (!Files.isReadable(FSTAB)) {
            return "";
        }
        try (Stream<String> lines = Files.lines(FSTAB)) {
            return lines.filter(line -> isOf(line.strip(), cli().name()) || isOf(line.strip(), store))
                    .findFirst()
                    .map(line -> "\nRemove its line of " + FSTAB + ", too: " + line.strip())
                    .orElse("");
        }
    }

    private static boolean isOf(String line, String volume) {
        return !volume.isEmpty() && line.matches(Pattern.quote(volume) + "\\s+\\S+\\s+sdfs\\s.*");
    }
}
