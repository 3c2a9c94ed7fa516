package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.store.CheckFolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a volume in one of its folders. They are told by their names (docs/FORMAT.md) from what others have put
 * there, which stays. No symbolic link is followed or removed, and no mount point below entered.
 *
 * @param what what the files are, for people
 * @param folder the folder; need not exist
 * @param names paths of the volume's files, from the folder on
 * @param folders paths of the volume's folders
 */
public record OwnFiles(String what, Path folder, Pattern names, Pattern folders) {
    private static final Logger LOG = LoggerFactory.getLogger(OwnFiles.class);

    /** Names of a RocksDB database with our additions, and of what it is being replaced by. */
    private static final String DATABASE = "(\\d{6,}\\.(sst|log|blob|dbtmp)|MANIFEST-\\d{6,}|CURRENT|IDENTITY|LOCK"
            + "|LOG(\\.old\\.\\d+)?|OPTIONS-\\d{6,}(\\.dbtmp)?|ACKNOWLEDGED|MANIFEST_SYNCED|DAMAGED|trial)";

    /** Of a volume in an object store: which part of the metadata the store has. */
    public static final String SHIPPED = "SHIPPED";

    private static final String TEMPORARY = "(\\.\\d+\\.tmp)?";
    private static final String COMMON = "volume-cfg\\.xml|volume\\.keys(\\.new)?|ballast(\\.new)?";

    /** Folders in that of the metadata with scratch files, and with databases that are made or were set aside. */
    private static final String BESIDE_METADATA = "(" + String.join("|", CheckFolder.NAMES)
            + "|checkpoint|restoring|salvaging|salvaging-backup|damaged-[^/]+)";

    /** The socket, the audit log and the lock that SDFS's process has at the metadata of a volume of chunks. */
    private static final String OF_PLUGIN = "run/[^/]+\\.(sock|audit(\\.\\d+)?|keys-lock)";

    private static final String BACKUP =
            "(SAR-METADATA-BACKUPS|\\d{6,}\\.backup|table-[^/]+\\.sst|file-[^/]+|collections)" + "(\\.new|\\.damaged)?";

    /** The file of the data location that says whose data they are. */
    public static final String IDENTITY = "volume.id";

    private OwnFiles(String what, Path folder, String names, String folders) {
        this(what, folder, Pattern.compile("(" + names + ")" + TEMPORARY), Pattern.compile(folders));
    }

    /** Those of a data location. */
    public static OwnFiles containers(Path folder) {
        return new OwnFiles(
                "containers",
                folder,
                "volume\\.id(\\.new)?|cache/.+\\.blocks|lease(\\.new|\\.lock)?|" + COMMON
                        + "|other-history(-given-up)?|[0-9a-f]{8}/[0-9a-f]{12}\\.pack" + "|metadata-backups/" + BACKUP
                        + "|disk-index/[0-9a-f]{16}/" + DATABASE,
                "[0-9a-f]{8}|metadata-backups|cache(/[0-9a-f]{8})?|disk-index(/[0-9a-f]{16})?");
    }

    /** Those of the metadata location. */
    public static OwnFiles metadata(Path folder) {
        return new OwnFiles(
                "names, recipes and counts",
                folder,
                DATABASE + "|" + COMMON + "|" + SHIPPED + "(\\.new)?|" + HeldUntil.NAME + "|quarantine-\\d+|"
                        + OF_PLUGIN + "|" + BESIDE_METADATA + "/.+",
                "run|" + BESIDE_METADATA + "(/.+)?");
    }

    /** The copies that mounts for reading made of a volume in an object store (docs/SCALE.md). */
    public static OwnFiles ofReader(Path metadata) {
        return new OwnFiles(
                "copies for reading",
                metadata.resolveSibling(metadata.getFileName() + ".reader"),
                "(cache|metadata|packs|recovered)/.+|[A-Za-z.-]+",
                "(cache|metadata|packs|recovered)(/.+)?");
    }

    /** What an interrupted check of a volume in an object store left. */
    public static OwnFiles ofCheck(Path metadata) {
        return new OwnFiles("scratch files of a check", CheckFolder.besideOf(metadata), ".+", ".+");
    }

    /** Those of a fingerprint index, of any class. */
    public static OwnFiles index(Path folder) {
        String next = "(index-\\d{1,9}/)?";
        return new OwnFiles(
                "index",
                folder,
                next + "(" + DATABASE + "|CHUNKSTASH|checkpoint|table|log-[0-9a-f]+-\\d{8}"
                        + "|blocks/[0-9a-f]{6,}/[0-9a-f]{8}\\.block(\\.new)?)(\\.tmp)?",
                "index-\\d{1,9}|" + next + "blocks(/[0-9a-f]{6,})?");
    }

    /** Those of a location on the SSD, raw files included. */
    public static OwnFiles ssd(Path folder) {
        return new OwnFiles(
                "copies and raw files on the SSD",
                folder,
                "sar\\.(id|lock)|segments/\\d{5}\\.segment|map/" + DATABASE
                        + "|raw/volume|raw/epoch|raw/[0-9a-f]{2}/[0-9a-f]{16}",
                "segments|map|raw(/[0-9a-f]{2})?");
    }

    /** Files of the daemon in the base path. */
    public static OwnFiles ofDaemon(Path base, String volume) {
        // Another volume's name may be this one with a dot and more.
        String name = Pattern.quote(volume) + "\\.[a-z-]+(\\.\\d+)?";
        return new OwnFiles("log and lock", base, "(log|run)/" + name + "|log/hs_err_\\d+\\.log", "log|run");
    }

    /**
     * What is in the folder.
     *
     * @param files number of the volume's files
     * @param bytes their bytes
     * @param others some of what is not the volume's
     */
    public record Found(long files, long bytes, List<Path> others) {}

    /** Looks, and changes nothing. */
    public Found find() throws IOException {
        var look = new Walk(file -> {}, false);
        look.through();
        return new Found(look.files, look.bytes, look.others);
    }

    /**
     * Removes the volume's files, and the folders that are empty then. The file that says whose data they are goes
     * last: until then a removal that was interrupted can be finished.
     *
     * @param progress gets the number of files removed so far
     */
    public void remove(LongConsumer progress) throws IOException {
        var removal = new Walk(progress, true);
        removal.through();
        if (names.matcher(IDENTITY).matches()) {
            Files.deleteIfExists(folder.resolve(IDENTITY));
        }
        removeIfEmpty(folder);
    }

    /** Removes a folder; one that has something else, or is a mount point or a link, stays. */
    public static void removeIfEmpty(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            Files.delete(folder);
        } catch (DirectoryNotEmptyException e) {
            LOG.debug("{} stays, it is not empty", folder, e);
        } catch (FileSystemException e) {
            // EBUSY of a mount point.
            LOG.debug("{} stays", folder, e);
        }
    }

    private final class Walk extends SimpleFileVisitor<Path> {
        /** Most that are named. */
        private static final int OTHERS_MAX = 10;

        private final LongConsumer progress;
        private final boolean removes;
        private final List<Path> others = new ArrayList<>();
        private long files;
        private long bytes;
        private Path top = folder;
        /** Device numbers would not do: a bind mount may be of the same file system. */
        private final MountTable mounts;

        Walk(LongConsumer progress, boolean removes) throws IOException {
            this.progress = progress;
            this.removes = removes;
            mounts = MountTable.read();
        }

        void through() throws IOException {
            if (Files.isDirectory(folder)) {
                // The folder that an administrator named may be a link.
                top = folder.toRealPath();
                Files.walkFileTree(top, this);
            }
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            if (directory.equals(top)
                    || folders.matcher(inTop(directory)).matches()
                            && mounts.top(directory).isEmpty()) {
                return FileVisitResult.CONTINUE;
            }
            addOther(directory);
            return FileVisitResult.SKIP_SUBTREE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (attributes.isSymbolicLink() || !names.matcher(inTop(file)).matches()) {
                addOther(file);
                return FileVisitResult.CONTINUE;
            }
            files++;
            bytes += attributes.size();
            if (removes && !inTop(file).equals(IDENTITY)) {
                Files.deleteIfExists(file);
                progress.accept(files);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            if (failure != null) {
                throw failure;
            }
            if (removes && !directory.equals(top)) {
                removeIfEmpty(directory);
            }
            return FileVisitResult.CONTINUE;
        }

        private String inTop(Path path) {
            return top.relativize(path).toString();
        }

        private void addOther(Path path) {
            if (others.size() < OTHERS_MAX) {
                others.add(path);
            }
        }
    }
}
