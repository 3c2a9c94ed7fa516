package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Mends a metadata database with damaged or missing tables, without losing anything: a table never changes, so the copy
 * that a backup has takes its place. RocksDB compares the random id of each table with its manifest, so a table of
 * another history is not taken. {@code CURRENT} is written anew if it is damaged or missing.
 *
 * <p>The mended database is made beside the damaged one, of which intact tables are linked. Every record is read before
 * it takes its place. For a volume that is not in use.
 */
public final class MetadataMend {
    private static final long DATABASE_BYTES = 64 << 20;
    private static final long CACHE_BYTES = 1 << 20;
    private static final String CURRENT = "CURRENT";
    private static final Pattern MANIFEST = Pattern.compile("MANIFEST-\\d{1,18}");
    /** Files that tell how long the log and the manifest must be: a database that is too short is refused. */
    private static final Set<String> GUARDS = Set.of("ACKNOWLEDGED", "MANIFEST_SYNCED");

    private static final byte[] END = {(byte) 0xff};

    /**
     * What was done.
     *
     * @param oldDatabase folder that has the damaged database now; empty if nothing was damaged
     * @param mended names of the files that were damaged and are whole again
     */
    public record Report(String oldDatabase, List<String> mended) {
        public Report {
            mended = List.copyOf(mended);
        }
    }

    private final MetadataFolder folder;
    private final FileDirectory old;
    private final Path target;
    private final List<BackupFolder> backups;
    private final Progress progress;
    private final List<String> mended = new ArrayList<>();
    private final List<String> hopeless = new ArrayList<>();
    /** Tables that can be read, and of which a backup has other bytes. */
    private final List<String> doubtful = new ArrayList<>();

    private MetadataMend(MetadataFolder folder, Path target, List<BackupFolder> backups, Progress progress)
            throws IOException {
        this.progress = progress;
        this.folder = folder;
        this.backups = backups;
        this.target = target;
        old = FileDirectory.open(folder.path());
    }

    /**
     * Mends the database of a volume.
     *
     * @param keys of an encrypted volume; null: it is not encrypted
     * @param backups folders with backups, in which copies of tables are looked for
     * @param progress may stop it; nothing is changed then
     * @throws CorruptionException if not all damage can be mended; names what cannot, and nothing is changed
     */
    public static Report mend(
            VolumeConfig.Locations locations, @Nullable VolumeKeys keys, List<Path> backups, Progress progress)
            throws IOException {
        return mend(locations, keys, backups, progress, MetadataFolder.Steps.UNSEEN);
    }

    static Report mend(
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            List<Path> backups,
            Progress progress,
            MetadataFolder.Steps steps)
            throws IOException {
        try (MetadataFolder folder = MetadataFolder.lock(locations.metadata(), steps)) {
            return new MetadataMend(folder, folder.newDatabase(), present(backups, keys), progress).run(keys);
        }
    }

    /**
     * Gathers the files of a damaged database in an empty folder: whole tables, from here or from backups, and damaged
     * ones as they are. If the database is lost, gathers those of the newest backup, of which no whole one need be
     * left.
     *
     * @throws CorruptionException if it cannot be told which manifest is the database's
     */
    static void gather(MetadataFolder folder, Path target, List<BackupFolder> backups, Progress progress)
            throws IOException {
        MetadataMend mend = new MetadataMend(folder, target, backups, progress);
        if (mend.isLost() && mend.takeDamagedBackup()) {
            return;
        }
        mend.takeAll(false);
        for (String name : mend.hopeless) {
            if (name.equals(CURRENT)) {
                throw mend.hopelessness();
            }
            if (mend.old.exists(name)) {
                Files.createLink(target.resolve(name), folder.path().resolve(name));
            }
        }
    }

    private Report run(@Nullable VolumeKeys keys) throws IOException {
        try {
            return run(keys, true);
        } catch (CorruptionException e) {
            if (doubtful.isEmpty()) {
                throw e;
            }
            // The backups are of another history: their tables are not those of the manifest.
            doubtful.clear();
            mended.clear();
            hopeless.clear();
            return run(keys, false);
        }
    }

    /** @param trustsBackups whether the copy of a backup is taken for a table that can be read and differs from it */
    private Report run(@Nullable VolumeKeys keys, boolean trustsBackups) throws IOException {
        PrivateFiles.createFolders(target);
        try {
            takeAll(trustsBackups);
            if (!hopeless.isEmpty()) {
                throw hopelessness();
            }
            readMended(keys);
        } catch (IOException e) {
            PrivateFiles.deleteFolder(target);
            throw e;
        }
        if (mended.isEmpty()) {
            PrivateFiles.deleteFolder(target);
            Path finished = folder.finished();
            return finished == null
                    ? new Report("", List.of())
                    : new Report(finished.toString(), List.of("the database, whose replacement was interrupted"));
        }
        return new Report(String.valueOf(folder.replace()), mended);
    }

    /** Says what else can be done: the remedy of who opens a damaged database is what was just tried. */
    private void readMended(@Nullable VolumeKeys keys) throws IOException {
        try {
            readAll(keys);
        } catch (CorruptionException e) {
            String found = KeyValueStores.withoutRemedy(String.valueOf(e.getMessage()))
                    .replace(target.toString(), folder.path().toString());
            CorruptionException damage = new CorruptionException(
                    folder.path().toString(),
                    -1,
                    "damage of tables only, which backups mend",
                    "other damage: " + found + ". Nothing was changed. Either restore the newest backup (sdfs-check"
                            + " VOLUME --restore-metadata), or salvage the single records that can be read"
                            + " (sdfs-check VOLUME --salvage-metadata=records)");
            damage.initCause(e);
            throw damage;
        }
    }

    private CorruptionException hopelessness() {
        if (hopeless.contains(CURRENT)) {
            return new CorruptionException(
                    folder.path().toString(),
                    -1,
                    "a database with one manifest, which names its tables",
                    "no such database; restore the newest backup instead (sdfs-check VOLUME --restore-metadata)");
        }
        return new CorruptionException(
                folder.path().toString(),
                -1,
                "tables that are whole, here or in a backup",
                hopeless
                        + ". Nothing was changed. Either restore the newest backup (sdfs-check VOLUME"
                        + " --restore-metadata), or salvage the single records that can be read"
                        + " (sdfs-check VOLUME --salvage-metadata=records)");
    }

    private void takeAll(boolean trustsBackups) throws IOException {
        List<String> names =
                old.list().stream().filter(name -> !name.contains("/")).toList();
        long all = 0;
        for (String name : names) {
            all += Files.size(folder.path().resolve(name));
        }
        long done = 0;
        for (String name : names) {
            progress.at("tables of the database, in bytes", done, all);
            done += Files.size(folder.path().resolve(name));
            take(name, trustsBackups);
        }
        if (!old.exists(CURRENT)) {
            takeCurrent(folder.path().resolve(CURRENT), target.resolve(CURRENT));
        }
        if (!hopeless.contains(CURRENT)) {
            takeMissingTables();
        }
    }

    /** Takes the tables that the manifest names and that are not in the folder, which a list of it does not show. */
    private void takeMissingTables() throws IOException {
        for (Map.Entry<String, Long> table : KeyValueStores.tablesOf(target).entrySet()) {
            String name = table.getKey();
            if (!old.exists(name)) {
                if (takeFromBackup(name, table.getValue(), target.resolve(name))) {
                    mended.add(name);
                } else {
                    hopeless.add(name);
                }
            }
        }
    }

    private void take(String name, boolean trustsBackups) throws IOException {
        Path source = folder.path().resolve(name);
        Path copy = target.resolve(name);
        if (name.endsWith(".sst")) {
            takeTable(name, source, copy, trustsBackups);
        } else if (name.equals(CURRENT)) {
            takeCurrent(source, copy);
        } else if (MANIFEST.matcher(name).matches() || name.endsWith(".log") || GUARDS.contains(name)) {
            PrivateFiles.write(copy, Files.readAllBytes(source));
        }
    }

    private void takeCurrent(Path source, Path copy) throws IOException {
        // Any byte is a character of this set: a damaged one is no error here.
        String named =
                Files.exists(source) ? Files.readString(source, ISO_8859_1).strip() : "";
        if (MANIFEST.matcher(named).matches() && old.exists(named)) {
            PrivateFiles.write(copy, (named + "\n").getBytes(ISO_8859_1));
            return;
        }
        List<String> manifests = old.list().stream()
                .filter(name -> MANIFEST.matcher(name).matches())
                .toList();
        if (manifests.size() == 1) {
            PrivateFiles.write(copy, (manifests.get(0) + "\n").getBytes(ISO_8859_1));
            mended.add(CURRENT);
        } else {
            hopeless.add(CURRENT);
        }
    }

    private void takeTable(String name, Path source, Path copy, boolean trustsBackups) throws IOException {
        try {
            KeyValueStores.verifyTable(source);
            for (BackupFolder stored : backups) {
                if (trustsBackups && stored.differs(old, name)) {
                    doubtful.add(name);
                    throw new CorruptionException(source.toString(), -1, "the bytes of its backup", "others");
                }
            }
            Files.createLink(copy, source);
        } catch (IOException damage) {
            NoAnswer.rethrow(damage);
            if (takeFromBackup(name, Files.size(source), copy)) {
                mended.add(name);
            } else {
                hopeless.add(name);
            }
        }
    }

    /** Returns those of the folders with backups that are there. */
    static List<BackupFolder> present(List<Path> backups, @Nullable VolumeKeys keys) throws IOException {
        List<BackupFolder> folders = new ArrayList<>();
        for (Path place : backups) {
            if (Files.isDirectory(place)) {
                folders.add(new BackupFolder(FileDirectory.open(place), keys));
            }
        }
        return folders;
    }

    /** Returns whether nothing is left of the database. */
    private boolean isLost() throws IOException {
        return old.names().stream()
                .noneMatch(
                        name -> name.endsWith(".sst") || MANIFEST.matcher(name).matches());
    }

    /**
     * Takes what can be read of the newest backup if none is whole.
     *
     * @return false if there is none, or a whole one, which is better restored
     */
    private boolean takeDamagedBackup() throws IOException {
        for (BackupFolder stored : backups) {
            List<Backup> all = stored.list();
            for (Backup backup : all) {
                if (stored.isWhole(backup) && isSound(stored, backup)) {
                    return false;
                }
            }
            if (!all.isEmpty()) {
                stored.copyWhatIsThere(all.get(all.size() - 1), FileDirectory.open(target), BackupFolder.Steps.UNBOUND);
                return true;
            }
        }
        return false;
    }

    private static boolean isSound(BackupFolder stored, Backup backup) throws IOException {
        try {
            stored.verify(backup, BackupFolder.Steps.UNBOUND);
            return true;
        } catch (CorruptionException e) {
            return false;
        }
    }

    private boolean takeFromBackup(String name, long bytes, Path copy) throws IOException {
        for (BackupFolder stored : backups) {
            for (Backup backup : stored.newestFirst()) {
                for (BackupFile file : backup.files()) {
                    if (file.name().equals(name) && file.bytes() == bytes && tryCopy(stored, backup, file, copy)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private boolean tryCopy(BackupFolder stored, Backup backup, BackupFile file, Path copy) throws IOException {
        Directory directory = FileDirectory.open(target);
        try {
            stored.copyTo(
                    new Backup(backup.number(), backup.origin(), List.of(file)), directory, BackupFolder.Steps.UNBOUND);
            KeyValueStores.verifyTable(copy);
            return true;
        } catch (CorruptionException e) {
            Files.deleteIfExists(copy);
            return false;
        }
    }

    /** Opens the database as a mount does, and reads every record. */
    private void readAll(@Nullable VolumeKeys keys) throws IOException {
        long done = 0;
        try (KeyValueStore database = open(keys)) {
            for (KeyValueStore.Family family : KeyValueStore.Family.values()) {
                try (KeyValueStore.Cursor cursor = database.scan(family, new byte[0], END)) {
                    while (cursor.next()) {
                        progress.at("records of the database", ++done, 0);
                        if (cursor.key().length == 0) {
                            throw new CorruptionException(target.toString(), -1, "a key", "an empty one");
                        }
                        if (cursor.value() == ValueReader.CHANGED) {
                            throw new CorruptionException(
                                    target.toString(),
                                    -1,
                                    "records that the key of the volume sealed",
                                    "one that was changed or exchanged");
                        }
                    }
                }
            }
        }
        MetadataStore.open(open(keys), CACHE_BYTES).close();
    }

    private KeyValueStore open(@Nullable VolumeKeys keys) throws IOException {
        return KeyValueStores.openRocksDb(target, DATABASE_BYTES, false, keys);
    }
}
