package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.backup.BackupPlace;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.report.BackupText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.backup.MetadataMend;
import org.opendedup.sar.volume.backup.MetadataReport;
import org.opendedup.sar.volume.backup.MetadataRestore;
import org.opendedup.sar.volume.backup.MetadataSalvager;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Brings back the metadata of a volume that is not mounted: what two options of {@code sdfs-check} do.
 *
 * @param volume name of the volume
 * @param keys of an encrypted volume; null: it is not encrypted
 * @param ofPlugin whether it has the chunks of an SDFS volume
 */
record MetadataRecovery(
        String volume,
        VolumeConfig.Locations locations,
        @Nullable VolumeKeys keys,
        boolean ofPlugin) {
    /** In place of a backup: the newest automatic one. */
    static final String NEWEST = "newest";

    /** Which parts of a damaged database are salvaged. */
    enum Parts {
        /** Whole tables, from backups. */
        TABLES,
        /** Single records. */
        RECORDS
    }

    /** What was done, as values for JSON and as text. */
    record Outcome(Map<String, Object> values, String text) {}

    /**
     * Restores a backup.
     *
     * @param wanted {@link #NEWEST}, the number of an automatic backup, or a folder, of which the newest is taken
     */
    Outcome restore(String wanted) throws IOException, CommandFailedException {
        UUID id = MetadataBackups.volumeOf(locations.data());
        try (BackupPlace place = wanted.contains("/") ? placeIn(Path.of(wanted), id) : automatic(id)) {
            BackupFolder stored = place.backups(keys);
            Backup backup = choose(place, stored, wanted);
            MetadataReport report;
            try {
                report = MetadataRestore.restore(locations, keys, place.path(), backup);
            } catch (IOException e) {
                throw place.named(e);
            }
            var values = new LinkedHashMap<String, Object>();
            values.put("backup", BackupText.One.of(backup, false));
            values.putAll(Json.values(BackupText.Restored.of(report)));
            return new Outcome(
                    values,
                    "Restored the metadata from " + place + ", backup\n"
                            + BackupText.One.of(backup, false).line() + "\n"
                            + BackupText.text(accept(), !ofPlugin, report));
        }
    }

    private BackupPlace automatic(UUID id) throws IOException, CommandFailedException {
        Path folder = MetadataBackups.folderIn(locations.data());
        return BackupPlace.find(folder.toAbsolutePath(), id).orElseThrow(() -> noBackupIn(folder, ""));
    }

    /** The folder that was named for backups, or the volume's own in it. */
    private static BackupPlace placeIn(Path named, UUID id) throws IOException, CommandFailedException {
        Path folder = named.toAbsolutePath().normalize();
        if (!Files.isDirectory(folder)) {
            throw new CommandFailedException(folder + " is no folder with backups of metadata");
        }
        Optional<BackupPlace> own = BackupPlace.find(BackupPlace.in(folder, id), id);
        if (own.isPresent()) {
            return own.get();
        }
        List<String> others = BackupPlace.namesIn(folder);
        if (!others.isEmpty()) {
            throw noBackupIn(folder, " of volume " + id + "; there are those of other volumes: " + others);
        }
        return BackupPlace.find(folder, id).orElseThrow(() -> noBackupIn(folder, ""));
    }

    private static CommandFailedException noBackupIn(Path folder, String more) {
        return new CommandFailedException("there is no backup of metadata in " + folder + more);
    }

    private Backup choose(BackupPlace place, BackupFolder stored, String wanted)
            throws IOException, CommandFailedException {
        List<Backup> all = stored.list();
        List<String> findings = stored.findings();
        if (all.isEmpty()) {
            throw noBackupIn(Path.of(place.toString()), findings.isEmpty() ? "" : ": " + String.join("; ", findings));
        }
        String there = "; there are:\n"
                + BackupText.All.of(
                                new MetadataBackups.Automatic(
                                        Path.of(Printable.line(place.toString())),
                                        all,
                                        findings.stream().map(Printable::line).toList(),
                                        MetadataBackups.collections(locations.data())),
                                null)
                        .text();
        boolean newest = wanted.equals(NEWEST) || wanted.contains("/");
        Backup backup = newest
                ? all.get(all.size() - 1)
                : all.stream()
                        .filter(one -> Long.toString(one.number()).equals(wanted))
                        .findFirst()
                        .orElseThrow(() ->
                                CommandFailedException.ofLines("there is no backup " + Printable.line(wanted) + there));
        if (!stored.isWhole(backup)) {
            throw CommandFailedException.ofLines("backup " + backup.number() + " is damaged" + there);
        }
        return backup;
    }

    /** Returns whether a text has the form of what {@link #restore} takes. */
    static boolean namesBackup(String wanted) {
        return wanted.equals(NEWEST) || wanted.contains("/") || wanted.matches("\\d{1,18}");
    }

    /** Salvages what can be read of a damaged database. */
    Outcome salvage(Parts parts, Progress progress) throws IOException {
        if (locations.remote() != null) {
            String lost = OfflineCheck.salvageStore(volume, locations, keys);
            return new Outcome(
                    Map.of("lost", lost),
                    "The metadata are those of the newest state in the store that can be read: " + lost + ".\n");
        }
        List<Path> backups = List.of(MetadataBackups.folderIn(locations.data()));
        return switch (parts) {
            case TABLES -> mend(locations, keys, backups, progress);
            case RECORDS -> {
                MetadataReport report = MetadataSalvager.salvage(locations, keys, backups, progress);
                yield new Outcome(
                        Json.values(BackupText.Restored.of(report)),
                        "Salvaged the records of the metadata that can be read.\n"
                                + BackupText.text(accept(), !ofPlugin, report));
            }
        };
    }

    /** Returns how the replaced metadata are given up, as the end of a sentence. */
    private String accept() {
        String command = "sdfscli " + volume + " metadata-backup --accept-restored";
        return ofPlugin
                ? command
                        + ".\nThe counts are those of the backup: do it only if SDFS has written, copied and deleted"
                        + " no file since. Otherwise copy all files to another volume"
                : command;
    }

    /** Mends damaged files of the database from backups. */
    private static Outcome mend(
            VolumeConfig.Locations locations, @Nullable VolumeKeys keys, List<Path> backups, Progress progress)
            throws IOException {
        MetadataMend.Report report = MetadataMend.mend(locations, keys, backups, progress);
        return new Outcome(
                Map.of("oldDatabase", report.oldDatabase(), "mended", report.mended()),
                report.mended().isEmpty()
                        ? "Every record of the metadata can be read; nothing was changed.\n"
                        : "Mended " + report.mended() + "; nothing is lost. The damaged database is in "
                                + report.oldDatabase() + "\n");
    }
}
